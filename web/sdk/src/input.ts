import { maxInputBytes, maxInputs, newer16, type InputBatch } from './bodies.js';

/** Room for inputs in a datagram, after the frame's header and the batch's own fields. */
const batchBytes = 1150 - 4 - 32;

/** The number of snapshots after which an acknowledgement is due. */
const ackEvery = 4;

/** What a batch acknowledges. */
export interface Acknowledged {
  readonly tick: number;
  readonly missed: bigint;
}

/**
 * Numbers the inputs and repeats them until a snapshot names them as applied, so
 * that a lost datagram costs nothing. At most as many wait as fit a frame: with
 * more under way than that the line is dead, and new inputs are refused rather
 * than lost in the middle.
 */
export class InputSender {
  private seq = 0;
  private pending: Uint8Array[] = []; // oldest first; the last has number seq
  private bytes = 0;
  private snapshots = 0; // since the last batch

  /** Takes an input. Undefined if too many wait already: the input was not taken. */
  push(payload: Uint8Array): number | undefined {
    if (payload.length > maxInputBytes) throw new RangeError(`input: ${payload.length} bytes, the limit is ${maxInputBytes}`);
    if (this.pending.length >= maxInputs || this.bytes + payload.length + 1 > batchBytes) return undefined;
    this.pending.push(payload);
    this.bytes += payload.length + 1;
    this.seq = (this.seq + 1) & 0xffff;
    return this.seq;
  }

  /** Forgets the inputs up to that number: the server has applied or passed them. */
  applied(seq: number): void {
    while (this.pending.length > 0 && !newer16(this.oldest, seq)) this.dropOldest();
  }

  /** Forgets all inputs that wait: they are too old to matter. */
  forget(): void {
    this.pending = [];
    this.bytes = 0;
  }

  /** Notes an applied snapshot. True if an acknowledgement is due even without an input. */
  snapshot(full: boolean): boolean {
    this.snapshots++;
    return full || this.snapshots >= ackEvery;
  }

  /** The batch to send now. */
  batch(clientTick: number, acked: Acknowledged): InputBatch {
    this.snapshots = 0;
    return { seq: this.seq, clientTick, acked: acked.tick, missed: acked.missed, inputs: [...this.pending] };
  }

  /** Inputs that no snapshot has named as applied. */
  get waiting(): number {
    return this.pending.length;
  }

  private get oldest(): number {
    return (this.seq - this.pending.length + 1) & 0xffff;
  }

  private dropOldest(): void {
    this.bytes -= (this.pending.shift() as Uint8Array).length + 1;
  }
}
