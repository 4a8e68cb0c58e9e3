/**
 * Delays between attempts to come back: they double from `firstMs` to `mostMs`,
 * each cut by a random part of up to a half, so that the clients of a server that
 * restarted do not all return at the same moment.
 */
export class Backoff {
  private attempt = 0;

  constructor(
    private readonly firstMs = 200,
    private readonly mostMs = 5000,
    private readonly random: () => number = Math.random,
  ) {}

  /** The delay before the next attempt, in ms. */
  next(): number {
    const whole = Math.min(this.mostMs, this.firstMs * 2 ** Math.min(this.attempt, 16));
    this.attempt++;
    return whole * (1 - this.random() / 2);
  }

  /** Attempts since the last success. */
  get attempts(): number {
    return this.attempt;
  }

  reset(): void {
    this.attempt = 0;
  }
}
