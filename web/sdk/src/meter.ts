/** Counts something and tells its rate over the last second or so. */
export class Meter {
  private sum = 0;
  private readonly marks: { at: number; sum: number }[] = [];

  /** All that was counted. */
  get total(): number {
    return this.sum;
  }

  add(n = 1): void {
    const now = performance.now();
    const last = this.marks[this.marks.length - 1];
    if (last === undefined || now - last.at >= 100) {
      this.marks.push({ at: now, sum: this.sum });
      if (this.marks.length > 12) this.marks.shift();
    }
    this.sum += n;
  }

  /** Per second. */
  rate(): number {
    const now = performance.now();
    const first = this.marks.find((m) => now - m.at <= 1100);
    if (first === undefined) return 0;
    return ((this.sum - first.sum) * 1000) / Math.max(now - first.at, 500);
  }
}
