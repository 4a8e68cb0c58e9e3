import { readFileSync } from 'node:fs';

/** Reads a file of the repository that Go and TypeScript share. */
export function shared<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')) as T;
}

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (b) => parseInt(b, 16));
}

export function toHex(b: Uint8Array): string {
  return Array.from(b, (v) => v.toString(16).padStart(2, '0')).join('');
}

/** A small generator with a seed, so that a failure can be repeated. */
export function random(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Bytes as they might come from anywhere: cut, flipped, or made up. */
export function* mangled(bytes: Uint8Array, seed = 1): Generator<Uint8Array> {
  for (let n = 0; n < bytes.length; n++) yield bytes.slice(0, n);
  for (let i = 0; i < bytes.length; i++) {
    for (let bit = 0; bit < 8; bit++) {
      const b = bytes.slice();
      b[i] = (b[i] as number) ^ (1 << bit);
      yield b;
    }
  }
  const rnd = random(seed);
  for (let i = 0; i < 500; i++) yield Uint8Array.from({ length: Math.floor(rnd() * 64) }, () => rnd() * 256);
}
