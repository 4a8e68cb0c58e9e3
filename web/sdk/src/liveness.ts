import type { Limits } from './control.js';

/** How often the round trip is measured, in ms. */
const measureEvery = 1000;
/** Of so many measurements the middle one counts: a page that paints answers late now and then. */
const measured = 5;

/** What a {@link Liveness} watches over. */
export interface LivenessOwner {
  ping(body: Uint8Array): void;
  /** The other end has fallen silent where it should not, or is heard again. */
  unstable(on: boolean): void;
  /** Nothing was heard for too long. Called at most once. */
  silent(ms: number): void;
}

/** A check that comes so much later than it should, in ms, tells that the page slept. */
const slept = 1000;
/** Pings that must have gone unanswered before a silence is held against a link. */
const mostMissed = 3;

/**
 * Liveness of one link: sends pings, measures round trips, and tells when the
 * other end has been silent for too long. That is `timeout_ms`; in a room that
 * ticks, where something is due at every tick, a third of `silenceMs` is
 * suspicious already, pings come faster then, and `silenceMs` is enough.
 */
export class Liveness {
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly interval: number;
  private lastHeard = performance.now();
  private quietSince = performance.now(); // as lastHeard, without the time this page slept
  private missed = 0; // pings since then
  private suspicious = false;
  private lastPing = -Infinity;
  private lastCheck = performance.now();
  private pings = new Map<number, number>(); // number to when it was sent
  private count = 0;
  private rtts: number[] = [];

  /** @param silenceMs in a room that ticks; Infinity where silence is nothing unusual */
  constructor(
    private readonly limits: Pick<Limits, 'ping_ms' | 'timeout_ms'>,
    private readonly owner: LivenessOwner,
    private readonly silenceMs = Infinity,
  ) {
    this.interval = Math.min(1000, Math.max(20, Math.min(limits.ping_ms / 4, limits.timeout_ms / 4, silenceMs / 12)));
    this.timer = setInterval(() => this.check(), this.interval);
  }

  /** Round trip in ms, the middle of the last few; 0 before the first. */
  get rtt(): number {
    const sorted = [...this.rtts].sort((a, b) => a - b);
    return sorted[(sorted.length - 1) >> 1] ?? 0;
  }

  /** Whether the other end is silent where it should not be. */
  get unstable(): boolean {
    return this.suspicious;
  }

  /** Something came from the other end. */
  heard(): void {
    this.lastHeard = this.quietSince = performance.now();
    this.missed = 0;
    this.suspect(false);
  }

  /** Sends a ping now. */
  ping(): void {
    this.lastPing = performance.now();
    this.missed++;
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
    this.suspect(false);
  }

  private check(): void {
    const now = performance.now();
    const { ping_ms, timeout_ms } = this.limits;
    const late = now - this.lastCheck - this.interval;
    this.lastCheck = now;
    // A page that was frozen wakes up with messages still waiting behind this
    // timer: it asks again, and listens for a while, before it gives the link up.
    if (late > timeout_ms / 2) {
      this.lastHeard = Math.max(this.lastHeard, now - timeout_ms + Math.min(ping_ms, timeout_ms / 2));
    }
    if (late > slept) {
      this.quietSince = now;
      this.missed = 0;
      this.ping();
    }
    const quiet = now - this.quietSince;
    if (now - this.lastHeard >= timeout_ms || (quiet >= this.silenceMs && this.missed >= mostMissed)) {
      this.stop();
      this.owner.silent(now - this.lastHeard);
      return;
    }
    if (quiet >= this.silenceMs / 3) this.suspect(true);
    const every = this.suspicious ? this.silenceMs / 6 : Math.min(ping_ms, measureEvery);
    if (now - this.lastPing >= every) this.ping();
  }

  private suspect(on: boolean): void {
    if (this.suspicious === on) return;
    this.suspicious = on;
    this.owner.unstable(on);
  }
}
