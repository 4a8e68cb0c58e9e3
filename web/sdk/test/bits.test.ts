import { describe, expect, test } from 'vitest';
import { BitReader, BitWriter, bitLength } from '../src/bits.js';
import { fromHex, shared, toHex } from './bytes.js';

interface BitsVector {
  name: string;
  ops: { op: string; v: number; n: number }[];
  hex: string;
}

describe('bits', () => {
  test.each(shared<BitsVector[]>('wire/testdata/bits.json'))('golden vector: $name', ({ ops, hex }) => {
    const w = new BitWriter();
    for (const { op, v, n } of ops) {
      if (op === 'bitvar') w.bitvar(v);
      else if (op === 'bool') w.bool(v === 1);
      else w.write(v, n);
    }
    expect(toHex(w.done())).toBe(hex);
    const r = new BitReader(fromHex(hex));
    for (const { op, v, n } of ops) {
      expect(op === 'bitvar' ? r.bitvar() : op === 'bool' ? Number(r.bool()) : r.read(n)).toBe(v);
    }
    expect(r.over).toBe(false);
    expect(r.left).toBeLessThan(8);
  });

  test('reading past the end yields zeros and is reported', () => {
    const r = new BitReader(Uint8Array.of(0xff));
    expect(r.read(9)).toBe(0);
    expect(r.over).toBe(true);
    expect(() => r.check('thing')).toThrow('thing is truncated');
  });

  test('a bitvar of more than 8 groups is an error', () => {
    const r = new BitReader(new Uint8Array(8).fill(0xff));
    expect(r.bitvar()).toBe(0);
    expect(r.over).toBe(true);
  });

  test('bitLength is the number of bits needed', () => {
    expect([0, 1, 2, 3, 4, 255, 256, 0x7fffffff, 0xffffffff].map(bitLength)).toEqual([0, 1, 2, 2, 3, 8, 9, 31, 32]);
  });
});
