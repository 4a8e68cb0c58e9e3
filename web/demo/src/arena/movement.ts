// The arena's rule of motion, twin of the Go package
// authority/games/arena/movement: same names, same order, exactly the same
// numbers. The vectors in that package's testdata hold both to it. All values are
// integers of at most 32 bits, and every division is cut to one at once.

/** Width of a tile, in units of position. */
export const TILE = 256;
/** Half the width of a body, which is a square. */
export const RADIUS = 88;
/** Bounds each component of a velocity, in units per tick. */
export const MAX_SPEED = 255;
/** A component of an input's move at full speed. */
export const MAX_MOVE = 127;
/** The bit of State.flags without which a body does not move. */
export const ALIVE = 1;
/** The value of State.power that makes a body run at Rules.haste. */
export const HASTE = 1;

/** State of a body: exactly what a player entity replicates of it. */
export interface State {
  /** Centre. */
  x: number;
  y: number;
  /** Units per tick, -MAX_SPEED to MAX_SPEED. */
  vx: number;
  vy: number;
  /** Ticks until the next dash may start. */
  dash: number;
  /** HASTE, or whatever else the game gives; not changed by step. */
  power: number;
  /** ALIVE, and the game's own bits; not changed by step. */
  flags: number;
}

/** Input of one tick. */
export interface Input {
  /** -MAX_MOVE to MAX_MOVE, an integer; beyond is clamped. */
  moveX: number;
  moveY: number;
  /** Start a dash in the direction of the move, if it may. */
  dash: boolean;
}

/** Constants of a world for its tick rate, as its config's `movement` gives them. */
export interface Rules {
  speed: number;
  haste: number;
  accel: number;
  dash_speed: number;
  dash_ticks: number;
  dash_every: number;
}

const FLOOR = 0;
const WALL = 1;
const DOOR_CLOSED = 2;
const DOOR_OPEN = 3;
const TILES: Readonly<Record<string, number>> = { '.': FLOOR, '#': WALL, '+': DOOR_CLOSED };

/** A map with the present state of its doors. */
export class Grid {
  readonly width: number;
  readonly height: number;
  private readonly tiles: Uint8Array;

  /**
   * Reads a map: one string per row, one character per tile: '#' wall, '.' floor,
   * '+' a door, which is closed at first. Throws if it is not a rectangle of those.
   */
  constructor(rows: readonly string[]) {
    this.height = rows.length;
    this.width = rows[0]?.length ?? 0;
    this.tiles = new Uint8Array(this.width * this.height);
    rows.forEach((row, y) => {
      if (row.length !== this.width) {
        throw new RangeError(`map: row ${y} has ${row.length} tiles, row 0 has ${this.width}`);
      }
      for (let x = 0; x < row.length; x++) {
        const tile = TILES[row.charAt(x)];
        if (tile === undefined) {
          throw new RangeError(`map: row ${y}, column ${x}: "${row.charAt(x)}" is none of '#', '.', '+'`);
        }
        this.tiles[y * this.width + x] = tile;
      }
    });
  }

  /** Whether a tile stops bodies: a wall, a closed door, and all outside the map. */
  solid(tx: number, ty: number): boolean {
    const t = this.at(tx, ty);
    return t === WALL || t === DOOR_CLOSED;
  }

  /** Whether there is a door, open or not. */
  door(tx: number, ty: number): boolean {
    return this.at(tx, ty) >= DOOR_CLOSED;
  }

  /** Opens or closes the door of a tile. Where there is none it does nothing. */
  setDoor(tx: number, ty: number, open: boolean): void {
    if (this.door(tx, ty)) {
      this.tiles[ty * this.width + tx] = open ? DOOR_OPEN : DOOR_CLOSED;
    }
  }

  private at(tx: number, ty: number): number {
    if (tx < 0 || ty < 0 || tx >= this.width || ty >= this.height) {
      return WALL;
    }
    return this.tiles[ty * this.width + tx] ?? WALL;
  }
}

/** The state of a body after one tick with an input. The dead do not move. */
export function step(g: Grid, r: Rules, before: Readonly<State>, input: Readonly<Input>): State {
  const s = { ...before };
  if ((s.flags & ALIVE) === 0) {
    s.vx = 0;
    s.vy = 0;
    return s;
  }
  let mx = clamp(input.moveX, MAX_MOVE);
  let my = clamp(input.moveY, MAX_MOVE);
  const square = mx * mx + my * my;
  if (square > MAX_MOVE * MAX_MOVE) {
    const n = root(square);
    mx = divide(mx * MAX_MOVE, n);
    my = divide(my * MAX_MOVE, n);
  }
  steer(r, s, mx, my, input.dash);
  const assist = mx !== 0 && my !== 0 ? 0 : divide(r.speed, 4) + 1;
  slideX(g, s, assist);
  slideY(g, s, assist);
  return s;
}

/**
 * Changes the velocity: the start of a dash sets it, the rest of the dash keeps
 * it, and else it approaches what the move wishes.
 */
function steer(r: Rules, s: State, mx: number, my: number, dash: boolean): void {
  if (s.dash > 0) {
    s.dash--;
  }
  if (dash && s.dash === 0 && (mx !== 0 || my !== 0)) {
    const n = root(mx * mx + my * my);
    s.dash = r.dash_every;
    s.vx = clamp(divide(mx * r.dash_speed, n), MAX_SPEED);
    s.vy = clamp(divide(my * r.dash_speed, n), MAX_SPEED);
  }
  if (s.dash > r.dash_every - r.dash_ticks) {
    return;
  }
  const top = s.power === HASTE ? r.haste : r.speed;
  approach(s, divide(mx * top, MAX_MOVE), divide(my * top, MAX_MOVE), r.accel);
}

/** Moves the velocity toward a wish by at most accel. */
function approach(s: State, wx: number, wy: number, accel: number): void {
  const dx = wx - s.vx;
  const dy = wy - s.vy;
  const square = dx * dx + dy * dy;
  if (square <= accel * accel) {
    s.vx = wx;
    s.vy = wy;
    return;
  }
  const n = root(square);
  s.vx += nearest(dx * accel, n);
  s.vy += nearest(dy * accel, n);
}

/**
 * Moves along x. Only a newly entered column can stop the body. If it is stopped
 * by a corner while its centre would pass, it is moved round it by at most assist.
 */
function slideX(g: Grid, s: State, assist: number): void {
  const nx = s.x + s.vx;
  const side = s.vx < 0 ? -RADIUS : RADIUS;
  const from = (s.x + side) >> 8;
  const to = (nx + side) >> 8;
  if (from === to || !(g.solid(to, (s.y - RADIUS) >> 8) || g.solid(to, (s.y + RADIUS) >> 8))) {
    s.x = nx;
    return;
  }
  const middle = s.y >> 8;
  if (!g.solid(to, middle)) {
    s.y += clamp(middle * TILE + TILE / 2 - s.y, assist);
  }
  s.x = s.vx < 0 ? (to + 1) * TILE + RADIUS : to * TILE - RADIUS - 1;
  s.vx = 0;
}

/** slideX with the axes swapped. */
function slideY(g: Grid, s: State, assist: number): void {
  const ny = s.y + s.vy;
  const side = s.vy < 0 ? -RADIUS : RADIUS;
  const from = (s.y + side) >> 8;
  const to = (ny + side) >> 8;
  if (from === to || !(g.solid((s.x - RADIUS) >> 8, to) || g.solid((s.x + RADIUS) >> 8, to))) {
    s.y = ny;
    return;
  }
  const middle = s.x >> 8;
  if (!g.solid(middle, to)) {
    s.x += clamp(middle * TILE + TILE / 2 - s.x, assist);
  }
  s.y = s.vy < 0 ? (to + 1) * TILE + RADIUS : to * TILE - RADIUS - 1;
  s.vy = 0;
}

/** v, within -limit to limit. */
function clamp(v: number, limit: number): number {
  return Math.min(Math.max(v, -limit), limit);
}

/** The quotient, cut toward zero as Go does. */
function divide(a: number, b: number): number {
  return (a / b) | 0;
}

/** The quotient, halves rounded away from zero. b is above 0. */
function nearest(a: number, b: number): number {
  const half = b >> 1;
  return a < 0 ? -divide(half - a, b) : divide(a + half, b);
}

/** The square root, rounded down, bit by bit. n is not negative and below 2^30. */
function root(n: number): number {
  let r = 0;
  for (let bit = 1 << 14; bit > 0; bit >>= 1) {
    const t = r + bit;
    if (t * t <= n) {
      r = t;
    }
  }
  return r;
}
