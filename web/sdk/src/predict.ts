import { newer16 } from './bodies.js';

/** What a game tells of its rule, so that a client can run ahead of the server with it. */
export interface Rule<State, Input> {
  /** The state after one tick with an input; pure, and exactly the server's rule. */
  step(state: State, input: Input): State;
  /** Whether two states agree. */
  equal(a: State, b: State): boolean;
  /** Where a state is shown. */
  position(state: State): Point;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PredictorOptions {
  /** A correction further than this, in the game's units, is shown at once. */
  readonly snap: number;
  /** Half of a smaller one is gone after this many ms. Default 60. */
  readonly halfLifeMs?: number;
}

/**
 * Predictor runs the local player ahead of the server: it applies each input at
 * once, keeps it until the server has applied it, and then goes on from the
 * server's state with those that are still under way. Where that comes out
 * elsewhere than was shown, what is shown glides over, or jumps if it is far.
 */
export class Predictor<State, Input> {
  /** Times the server's state differed from the predicted one. */
  corrections = 0;
  /** Those of them that were too far to smooth. */
  snaps = 0;

  private now: State | undefined;
  private before: State | undefined; // one tick earlier, for showing fractions of a tick
  private pending: { seq: number; input: Input; after: State }[] = [];
  private error: Point = { x: 0, y: 0 };

  constructor(
    private readonly rule: Rule<State, Input>,
    private readonly options: PredictorOptions,
  ) {}

  /** The predicted state, undefined before the first snapshot. */
  get state(): State | undefined {
    return this.now;
  }

  /** Applies an input that was sent under that number. */
  input(seq: number, input: Input): void {
    if (this.now === undefined) return;
    this.before = this.now;
    this.now = this.rule.step(this.now, input);
    this.pending.push({ seq, input, after: this.now });
  }

  /**
   * Takes the server's state, and the last input it had applied (undefined if
   * none). Call it for every snapshot.
   */
  reconcile(server: State, applied: number | undefined): void {
    const shown = this.now;
    let believed: State | undefined; // what was predicted for the state the server has now
    while (this.pending.length > 0 && applied !== undefined) {
      const oldest = this.pending[0] as { seq: number; after: State };
      if (newer16(oldest.seq, applied)) break;
      believed = oldest.after;
      this.pending.shift();
    }
    let state = server;
    let before = this.pending.length === 0 ? this.before : server;
    for (const p of this.pending) {
      before = state;
      state = this.rule.step(state, p.input);
      p.after = state;
    }
    this.now = state;
    if (shown === undefined) {
      this.before = state;
      return;
    }
    const wrong = !this.rule.equal(shown, state);
    this.before = wrong && this.pending.length === 0 ? state : (before ?? state);
    if (believed !== undefined && !this.rule.equal(believed, server)) this.corrections++;
    if (wrong) this.smooth(shown, state);
  }

  /** Forgets everything, for a new life or a new body: the next state is shown at once. */
  reset(): void {
    this.now = this.before = undefined;
    this.pending = [];
    this.error = { x: 0, y: 0 };
  }

  /** Lets the shown error fade; call it once per frame with the time passed. */
  fade(ms: number): void {
    const left = 0.5 ** (ms / (this.options.halfLifeMs ?? 60));
    this.error = { x: this.error.x * left, y: this.error.y * left };
  }

  /** Where to show it: fraction (0 to 1) of the way from the tick before to the present one. */
  shown(fraction: number): Point | undefined {
    if (this.now === undefined) return undefined;
    const b = this.rule.position(this.now);
    const a = this.before === undefined ? b : this.rule.position(this.before);
    return {
      x: a.x + (b.x - a.x) * fraction + this.error.x,
      y: a.y + (b.y - a.y) * fraction + this.error.y,
    };
  }

  private smooth(shown: State, state: State): void {
    const a = this.rule.position(shown);
    const b = this.rule.position(state);
    const error = { x: this.error.x + a.x - b.x, y: this.error.y + a.y - b.y };
    if (Math.hypot(error.x, error.y) > this.options.snap) {
      this.snaps++;
      this.error = { x: 0, y: 0 };
    } else {
      this.error = error;
    }
  }
}
