import { defineConfig, type Plugin } from 'vite';

/** The name under which TypeScript looks for the types of gatehouse.js. */
const declaration: Plugin = {
  name: 'declaration',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'gatehouse.d.ts', source: "export * from './index.js';\n" });
  },
};

// The SDK as one ES module without dependencies, for other pages.
export default defineConfig({
  plugins: [declaration],
  build: {
    outDir: 'dist/sdk',
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    lib: { entry: 'sdk/src/index.ts', formats: ['es'], fileName: () => 'gatehouse.js' },
  },
});
