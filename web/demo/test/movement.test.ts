import { describe, expect, test } from 'vitest';
import { shared } from '../../sdk/test/bytes.js';
import { Grid, step, type Rules, type State } from '../src/arena/movement.js';

interface Case {
  name: string;
  map: string[];
  rules: Rules;
  /** x, y, vx, vy, dash, power, flags */
  start: [number, number, number, number, number, number, number];
  /** Step before which a door is set, tile x, tile y, 1 for open. */
  doors?: [number, number, number, number][];
  /** Move x, move y, 1 for dash; then x, y, vx, vy, dash as they come out. */
  steps: [number, number, number, number, number, number, number, number][];
}

const { cases } = shared<{ cases: Case[] }>('authority/games/arena/movement/testdata/vectors.json');

describe('movement', () => {
  test.each(cases.map((c, i) => [`${i} ${c.name}`, c] as const))('is exactly the server’s: %s', (_, c) => {
    const grid = new Grid(c.map);
    const [x, y, vx, vy, dash, power, flags] = c.start;
    let state: State = { x, y, vx, vy, dash, power, flags };
    const got = c.steps.map(([moveX, moveY, dashed], i) => {
      for (const [at, tx, ty, open] of c.doors ?? []) if (at === i) grid.setDoor(tx, ty, open === 1);
      state = step(grid, c.rules, state, { moveX, moveY, dash: dashed === 1 });
      return [moveX, moveY, dashed, state.x, state.y, state.vx, state.vy, state.dash].map((v) => v + 0);
    });
    expect(got).toEqual(c.steps);
  });
});
