/** Snapshots whose arrival is remembered: about two seconds. */
const window = 60;
/** How much faster or slower than real time playing out may run, while it adjusts. */
const maxRateChange = 0.1;

/**
 * Clock tells the server's tick from the arrivals of snapshots, and the tick to
 * show: as far behind as the line's jitter makes necessary, at least `delay`
 * ticks, so that there is nearly always a later snapshot to interpolate toward.
 */
export class Clock {
  private samples: number[] = []; // tick - local time in ticks, per snapshot
  private offset = 0; // of the fastest of them
  private spread = 0; // how late the slow ones are, in ticks
  private shown = 0;
  private shownAt = 0;

  /**
   * @param tickRate in Hz
   * @param delay least ticks behind, default 2
   * @param most most ticks behind, default 10
   */
  constructor(
    readonly tickRate: number,
    private readonly delay = 2,
    private readonly most = 10,
  ) {}

  /** Notes that the snapshot of a tick came at a time (ms). */
  arrived(tick: number, now: number): void {
    const sample = tick - this.ticks(now);
    const typical = this.samples.length > 0 ? this.offset : sample;
    // A tick far from where it is expected: another room, or a server that slept.
    if (Math.abs(sample - typical) > 2 * this.tickRate) this.samples = [];
    this.samples.push(sample);
    if (this.samples.length > window) this.samples.shift();
    const sorted = [...this.samples].sort((a, b) => b - a);
    this.offset = sorted[0] as number;
    this.spread = this.offset - (sorted[Math.floor(sorted.length * 0.95)] as number);
  }

  /** The newest tick that a snapshot could be here for, with its fraction; 0 before the first. */
  serverTick(now: number): number {
    return this.samples.length === 0 ? 0 : this.ticks(now) + this.offset;
  }

  /** Ticks that {@link playTick} is behind, once it has adjusted. */
  get behind(): number {
    return Math.min(this.most, Math.max(this.delay, 1 + this.spread));
  }

  /**
   * The tick to show at a time (ms), with its fraction. It never runs backward,
   * and adjusts by running up to a tenth faster or slower; it jumps only where it
   * is wrong by more than half a second.
   */
  playTick(now: number): number {
    if (this.samples.length === 0) return 0;
    const target = this.serverTick(now) - this.behind;
    const passed = this.ticks(now - this.shownAt);
    const error = target - (this.shown + passed);
    this.shownAt = now;
    if (this.shown === 0 || Math.abs(error) > this.tickRate / 2) this.shown = target;
    else this.shown += passed + Math.max(-passed * maxRateChange, Math.min(passed * maxRateChange, error));
    return this.shown;
  }

  private ticks(ms: number): number {
    return (ms * this.tickRate) / 1000;
  }
}

/**
 * Pacer calls a function once per tick of real time, for inputs and prediction. It
 * catches up at most a few ticks after a pause and forgets the rest.
 */
export class Pacer {
  private due = -1;

  constructor(
    private readonly tickRate: number,
    private readonly mostAtOnce = 4,
  ) {}

  /** Calls tick for every tick due at the time now (ms); call it at every frame. */
  advance(now: number, tick: () => void): void {
    const step = 1000 / this.tickRate;
    if (this.due < 0 || now - this.due > this.mostAtOnce * step) this.due = now;
    while (this.due <= now) {
      this.due += step;
      tick();
    }
  }

  /** How far the time now is between the last tick and the next, 0 to 1. */
  fraction(now: number): number {
    if (this.due < 0) return 0;
    return Math.min(1, Math.max(0, 1 - ((this.due - now) * this.tickRate) / 1000));
  }
}
