import type { Limits } from './control.js';

/** How often the round trip is measured, in ms. */
const measureEvery = 1000;
/** Of so many measurements the middle one counts: a page that paints answers late now and then. */
const measured = 5;

/** What a {@link Liveness} watches over. */
export interface LivenessOwner {
  ping(body: Uint8Array): void;
  /** Nothing was heard for too long. Called at most once. */
  silent(ms: number): void;
}

/**
 * Liveness of one link: sends pings, measures round trips, and tells when the
 * other end has been silent for too long.
 */
export class Liveness {
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly interval: number;
  private lastHeard = performance.now();
  private lastPing = -Infinity;
  private lastCheck = performance.now();
  private pings = new Map<number, number>(); // number to when it was sent
  private count = 0;
  private rtts: number[] = [];

  constructor(
    private readonly limits: Pick<Limits, 'ping_ms' | 'timeout_ms'>,
    private readonly owner: LivenessOwner,
  ) {
    this.interval = Math.min(1000, Math.max(20, Math.min(limits.ping_ms, limits.timeout_ms) / 4));
    this.timer = setInterval(() => this.check(), this.interval);
  }

  /** Round trip in ms, the middle of the last few; 0 before the first. */
  get rtt(): number {
    const sorted = [...this.rtts].sort((a, b) => a - b);
    return sorted[(sorted.length - 1) >> 1] ?? 0;
  }

  /** Something came from the other end. */
  heard(): void {
    this.lastHeard = performance.now();
  }

  /** Sends a ping now. */
  ping(): void {
    this.lastPing = performance.now();
    const n = (this.count = (this.count + 1) & 0xffff);
    this.pings.set(n, this.lastPing);
    if (this.pings.size > 32) this.pings.delete(this.pings.keys().next().value as number);
    this.owner.ping(Uint8Array.of(n, n >> 8));
  }

  /** Takes the answer to a ping. */
  pong(body: Uint8Array): void {
    if (body.length !== 2) return;
    const n = (body[0] as number) | ((body[1] as number) << 8);
    const sent = this.pings.get(n);
    if (sent === undefined) return;
    this.pings.delete(n);
    this.rtts.push(performance.now() - sent);
    if (this.rtts.length > measured) this.rtts.shift();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private check(): void {
    const now = performance.now();
    const { ping_ms, timeout_ms } = this.limits;
    // A page that was frozen wakes up with messages still waiting behind this
    // timer: it listens for a while before it gives the link up.
    if (now - this.lastCheck > this.interval + timeout_ms / 2) {
      this.lastHeard = Math.max(this.lastHeard, now - timeout_ms + Math.min(ping_ms, timeout_ms / 2));
    }
    this.lastCheck = now;
    if (now - this.lastHeard >= timeout_ms) {
      this.stop();
      this.owner.silent(now - this.lastHeard);
      return;
    }
    if (now - this.lastPing >= Math.min(ping_ms, measureEvery)) this.ping();
  }
}
