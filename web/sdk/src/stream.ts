import { encodeFrame, headerSize, isNumbered } from './frame.js';

/** Bytes received after which an acknowledgement is due at once. */
export const ackBytes = 16 << 10;
/** How long after something was received an acknowledgement is due, in ms. */
export const ackDelay = 250;

/** What a frame costs in memory beyond its bytes, for the bound. */
const frameOverhead = 64;

/**
 * Ring keeps the numbered frames that were sent and not acknowledged. It belongs
 * to a session and outlives its links: each link has a cursor into it. Frames
 * are numbered from 1 in the order in which they are pushed.
 */
export class Ring {
  private frames: Uint8Array[] = [];
  private first = 1; // number of the oldest kept
  private bytes = 0;

  /** @param limit bound of the kept frames, in bytes */
  constructor(private readonly limit: number) {}

  /** Keeps a frame for sending. False if the bound would be passed; nothing is kept then. */
  push(kind: number, body: Uint8Array): boolean {
    const frame = encodeFrame(kind, body);
    if (this.bytes + frame.length + frameOverhead > this.limit) return false;
    this.frames.push(frame);
    this.bytes += frame.length + frameOverhead;
    return true;
  }

  /** The frames from number cursor on, each with its header. */
  from(cursor: number): Uint8Array[] {
    return this.frames.slice(Math.max(0, cursor - this.first));
  }

  /**
   * Releases every frame up to number received. An old acknowledgement is
   * harmless; false for one of a frame that was never sent, which changes nothing.
   */
  ack(received: number): boolean {
    if (received > this.sent) return false;
    const n = received - this.first + 1;
    if (n > 0) {
      for (const f of this.frames.splice(0, n)) this.bytes -= f.length + frameOverhead;
      this.first += n;
    }
    return true;
  }

  /**
   * Acknowledges what a returning receiver has had and gives the cursor to send
   * from; undefined if what it misses was forgotten or never sent.
   */
  rewind(received: number): number | undefined {
    if (!this.ack(received) || this.first !== received + 1) return undefined;
    return this.first;
  }

  /** Forgets everything and starts numbering at 1 again, after a gap. */
  clear(): void {
    this.frames = [];
    this.first = 1;
    this.bytes = 0;
  }

  /** The number of the newest frame pushed, 0 if there was none. */
  get sent(): number {
    return this.first + this.frames.length - 1;
  }

  /** Frames sent and not acknowledged. */
  get waiting(): number {
    return this.frames.length;
  }
}

/** Counter numbers what is received on the reliable lane. */
export class Counter {
  private count = 0;
  private acked = 0;
  private bytes = 0;

  /** Counts a frame if its kind is numbered. True if an acknowledgement is due at once. */
  add(kind: number, bodyBytes: number): boolean {
    if (!isNumbered(kind)) return false;
    this.count++;
    this.bytes += bodyBytes + headerSize(bodyBytes);
    return this.bytes >= ackBytes;
  }

  /** Numbered frames received in all. */
  get received(): number {
    return this.count;
  }

  /** Whether something received was not acknowledged. */
  get owing(): boolean {
    return this.count !== this.acked;
  }

  /** Notes that the current count was acknowledged, and returns it. */
  acknowledge(): number {
    this.acked = this.count;
    this.bytes = 0;
    return this.count;
  }

  /** Restarts the numbering, after a gap. */
  reset(): void {
    this.count = this.acked = this.bytes = 0;
  }
}
