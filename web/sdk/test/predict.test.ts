import { beforeEach, describe, expect, test } from 'vitest';
import { Predictor } from '../src/predict.js';

interface State {
  x: number;
}

/** A body on a line that moves by its input, up to a wall. */
let wall: number;
let p: Predictor<State, number>;

beforeEach(() => {
  wall = 1000;
  p = new Predictor<State, number>(
    {
      step: ({ x }, by) => ({ x: Math.min(wall, x + by) }),
      equal: (a, b) => a.x === b.x,
      position: ({ x }) => ({ x, y: 0 }),
    },
    { snap: 50, halfLifeMs: 100 },
  );
});

describe('prediction', () => {
  test('runs ahead of the server and is not corrected where it was right', () => {
    p.reconcile({ x: 0 }, undefined);
    for (let seq = 1; seq <= 6; seq++) p.input(seq, 10);
    expect(p.state).toEqual({ x: 60 });
    p.reconcile({ x: 20 }, 2);
    p.reconcile({ x: 20 }, undefined); // a snapshot that does not repeat what is known
    p.reconcile({ x: 50 }, 5);
    expect(p.state).toEqual({ x: 60 });
    expect(p.corrections).toBe(0);
    expect(p.shown(1)).toEqual({ x: 60, y: 0 });
  });

  test('goes on from the server’s state with the inputs under way', () => {
    p.reconcile({ x: 0 }, undefined);
    for (let seq = 1; seq <= 4; seq++) p.input(seq, 10);
    p.reconcile({ x: 13 }, 2);
    expect(p.state).toEqual({ x: 33 });
    expect(p.corrections).toBe(1);
    p.reconcile({ x: 33 }, 4);
    expect(p.corrections).toBe(1); // it has learned from the first
  });

  test('replays with the rule as it is now: a door that has closed stops the body', () => {
    p.reconcile({ x: 0 }, undefined);
    for (let seq = 1; seq <= 4; seq++) p.input(seq, 10);
    wall = 15;
    p.reconcile({ x: 10 }, 1);
    expect(p.state).toEqual({ x: 15 });
  });

  test('a small error fades away, by half in each half-life', () => {
    p.reconcile({ x: 0 }, undefined);
    p.input(1, 10);
    p.reconcile({ x: 30 }, 1);
    expect(p.state).toEqual({ x: 30 });
    expect(p.shown(1)!.x).toBeCloseTo(10);
    p.fade(100);
    expect(p.shown(1)!.x).toBeCloseTo(20);
    p.fade(1000);
    expect(p.shown(1)!.x).toBeCloseTo(30, 0);
    expect(p.snaps).toBe(0);
  });

  test('a large error is shown at once', () => {
    p.reconcile({ x: 0 }, undefined);
    p.input(1, 10);
    p.reconcile({ x: 500 }, 1);
    expect(p.shown(1)).toEqual({ x: 500, y: 0 });
    expect(p.snaps).toBe(1);
  });

  test('is shown between two ticks', () => {
    p.reconcile({ x: 0 }, undefined);
    p.input(1, 10);
    expect(p.shown(0)!.x).toBe(0);
    expect(p.shown(0.5)!.x).toBe(5);
  });

  test('numbers of inputs wrap', () => {
    p.reconcile({ x: 0 }, undefined);
    for (const seq of [65_534, 65_535, 0, 1]) p.input(seq, 10);
    p.reconcile({ x: 30 }, 0);
    expect(p.state).toEqual({ x: 40 });
    expect(p.corrections).toBe(0);
  });

  test('a new body starts afresh', () => {
    p.reconcile({ x: 0 }, undefined);
    p.input(1, 10);
    p.reset();
    expect(p.shown(1)).toBeUndefined();
    p.input(2, 10); // has no body to move
    p.reconcile({ x: 700 }, 1);
    expect(p.shown(0)).toEqual({ x: 700, y: 0 });
    expect(p.corrections).toBe(0);
  });
});
