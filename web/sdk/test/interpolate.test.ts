import { describe, expect, test } from 'vitest';
import { Entity } from '../src/entity.js';
import { Interpolator } from '../src/interpolate.js';
import { Schema } from '../src/schema.js';
import type { Applied } from '../src/world.js';

const schema = new Schema({
  types: [
    {
      name: 'ship',
      fields: [
        { name: 'x', min: 0, max: 1000 },
        { name: 'aim', min: 0, max: 255 },
        { name: 'health', min: 0, max: 100 },
      ],
    },
  ],
});

function setUp(options?: ConstructorParameters<typeof Interpolator>[1]) {
  const interpolator = new Interpolator({ ship: { x: { by: 'line' }, aim: { by: 'turn', turn: 256 } } }, options);
  const ship = new Entity(1, 1, schema.types[0]!, Uint32Array.of(0, 0, 100));
  const record = (tick: number, change: Partial<Applied>): void =>
    interpolator.record({ tick, full: false, input: undefined, spawned: [], despawned: [], updated: [], ...change });
  const move = (tick: number, ...numbers: number[]): void => {
    ship.numbers.set(numbers);
    record(tick, { updated: [ship] });
  };
  record(10, { spawned: [ship] });
  return { interpolator, ship, record, move, at: (tick: number) => interpolator.sample(ship, tick) };
}

describe('interpolation', () => {
  test('goes straight from one snapshot to the next; other fields change at their tick', () => {
    const { move, at } = setUp();
    move(12, 100, 0, 50);
    expect(at(11)).toEqual([50, 0, 100]);
    expect(at(11.5)).toEqual([75, 0, 100]);
    expect(at(12)).toEqual([100, 0, 50]);
  });

  test('turns the short way round', () => {
    const { move, at } = setUp();
    move(11, 0, 250, 100);
    move(12, 0, 6, 100);
    expect(at(11.5)![1]).toBeCloseTo(0);
    expect(at(11.25)![1]).toBeCloseTo(253);
  });

  test('what had no record for a while stood until the snapshot before it moved', () => {
    const { move, record, at } = setUp();
    for (let tick = 11; tick < 20; tick++) record(tick, {});
    move(20, 100, 0, 100);
    expect(at(15)![0]).toBe(0);
    expect(at(19)![0]).toBe(0);
    expect(at(19.5)![0]).toBe(50);
  });

  test('goes on a little past the newest snapshot, and then stops', () => {
    const { move, at } = setUp({ extrapolate: 3 });
    move(11, 10, 0, 100);
    expect(at(12)![0]).toBe(20);
    expect(at(14)![0]).toBe(40);
    expect(at(30)![0]).toBe(40);
  });

  test('does not go on where a later snapshot says that it stands', () => {
    const { move, record, at } = setUp();
    move(11, 10, 0, 100);
    record(12, {});
    expect(at(12)![0]).toBe(10);
    expect(at(13)![0]).toBe(10);
  });

  test('a jump is not a move', () => {
    const { move, at } = setUp({ jump: 300 });
    move(11, 900, 0, 100);
    expect(at(10.9)![0]).toBe(0);
    expect(at(11)![0]).toBe(900);
  });

  test('entities appear and go when their tick is shown', () => {
    const { interpolator, ship, record } = setUp();
    const seen: number[] = [];
    const gone: [Entity, number][] = [];
    const show = (tick: number): void => interpolator.each(tick, (s) => seen.push(s.entity.id), (e, why) => gone.push([e, why]));
    show(9.9);
    expect(seen).toEqual([]);
    record(14, { despawned: [{ entity: ship, reason: 5 }] });
    show(13.9);
    expect(seen).toEqual([1]);
    expect(gone).toEqual([]);
    show(14);
    expect(seen).toEqual([1]);
    expect(gone).toEqual([[ship, 5]]);
    expect(interpolator.sample(ship, 13)).toBeUndefined();
  });

  test('forgets what has ended although nobody looks', () => {
    const { interpolator, ship, record } = setUp();
    record(11, { despawned: [{ entity: ship, reason: 1 }] });
    for (let tick = 12; tick < 200; tick++) record(tick, {});
    const seen: Entity[] = [];
    interpolator.each(5, (s) => seen.push(s.entity), (e) => seen.push(e));
    interpolator.each(500, (s) => seen.push(s.entity), (e) => seen.push(e));
    expect(seen).toEqual([]);
  });

  test('may show each entity at a tick of its own', () => {
    const { interpolator, ship, move } = setUp();
    move(11, 10, 0, 100);
    const seen: number[] = [];
    interpolator.each((e) => (e === ship ? 12 : 10), (s) => seen.push(s.values[0]!));
    expect(seen).toEqual([20]);
  });

  test('keeps a bounded past', () => {
    const { move, at } = setUp();
    for (let tick = 11; tick < 500; tick++) move(tick, tick, 0, 100);
    expect(at(498.5)![0]).toBe(498.5);
    expect(at(20)![0]).toBeGreaterThan(400); // long forgotten
  });
});
