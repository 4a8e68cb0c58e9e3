import { describe, expect, test } from 'vitest';
import { encodeIntent, fromAim, toAim } from '../src/arena/contract.js';

describe('the arena’s input', () => {
  test('is buttons, move and aim in four bytes', () => {
    const still = { moveX: 0, moveY: 0, dash: false, attack: false, aim: 0 };
    expect([...encodeIntent(still)]).toEqual([0, 0, 0, 0]);
    expect([...encodeIntent({ ...still, attack: true, moveX: 127, moveY: -127, aim: 64 })]).toEqual([1, 127, 129, 64]);
    expect([...encodeIntent({ ...still, dash: true, moveX: -1 })]).toEqual([2, 255, 0, 0]);
  });

  test('aims in 1/256 turn, whatever the angle', () => {
    expect([0, Math.PI / 2, Math.PI, -Math.PI / 2, 5 * Math.PI].map(toAim)).toEqual([0, 64, 128, 192, 128]);
    for (let aim = 0; aim < 256; aim++) expect(toAim(fromAim(aim))).toBe(aim);
  });
});
