import { defineConfig } from 'vitest/config';

// The demo. Its pages are served by the Gatehouse server under any path, so that
// every address in them is relative.
export default defineConfig({
  root: 'demo',
  base: './',
  build: { outDir: '../dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
  server: {
    // `npm run dev` beside a server on its usual port.
    proxy: { '/v1': { target: 'http://127.0.0.1:8080', ws: true } },
  },
  test: {
    root: '.',
    include: ['sdk/test/**/*.test.ts', 'demo/test/**/*.test.ts'],
    restoreMocks: true,
  },
});
