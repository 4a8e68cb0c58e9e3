/** An event is released at latest this long after it came, in ms. */
const longest = 250;

/**
 * Holds events until a snapshot of their tick or a later one was applied, so that
 * a hit is not shown before the body that was hit. Order is kept.
 */
export class Hold<E extends { readonly tick: number }> {
  private waiting: { event: E; until: number }[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private applied = 0;

  constructor(private readonly release: (e: E) => void) {}

  add(event: E): void {
    this.waiting.push({ event, until: performance.now() + longest });
    this.flush();
  }

  /** A snapshot of that tick was applied. */
  reached(tick: number): void {
    this.applied = tick;
    this.flush();
  }

  /** Forgets what waits. */
  clear(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting = [];
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const now = performance.now();
    for (let head = this.waiting[0]; head !== undefined; head = this.waiting[0]) {
      if (head.event.tick > this.applied && head.until > now) {
        this.timer = setTimeout(() => this.flush(), head.until - now);
        return;
      }
      this.waiting.shift();
      this.release(head.event);
    }
  }
}
