import { ProtocolError } from './bytes.js';

/** The number of bits that v needs; 0 for 0. */
export function bitLength(v: number): number {
  return 32 - Math.clz32(v);
}

/**
 * Reads values packed least significant bit first. Reading past the end yields
 * zeros and is reported by {@link BitReader.check}, so that a loop over outside
 * counts tests {@link BitReader.over} instead of trusting them.
 */
export class BitReader {
  private at = 0; // in bits
  private readonly end: number;
  over = false;

  constructor(private readonly bytes: Uint8Array) {
    this.end = bytes.length * 8;
  }

  /** The next n bits, 0 to 32, as an unsigned number. */
  read(n: number): number {
    if (this.at + n > this.end) {
      this.at = this.end;
      this.over = true;
      return 0;
    }
    let v = 0;
    let got = 0;
    while (got < n) {
      const shift = this.at & 7;
      const take = Math.min(8 - shift, n - got);
      const part = ((this.bytes[this.at >> 3] as number) >> shift) & ((1 << take) - 1);
      v |= part << got;
      got += take;
      this.at += take;
    }
    return v >>> 0;
  }

  bool(): boolean {
    return this.read(1) === 1;
  }

  /** A bitvar: 4 bits of value and one that says whether more follow. */
  bitvar(): number {
    let v = 0;
    for (let shift = 0; shift < 32; shift += 4) {
      const group = this.read(5);
      v |= (group & 15) << shift;
      if (group < 16) return v >>> 0;
    }
    this.over = true;
    return 0;
  }

  /** Throws if more was read than there was. */
  check(what: string): void {
    if (this.over) throw new ProtocolError(`${what} is truncated`);
  }

  /** Bits not read yet. */
  get left(): number {
    return this.end - this.at;
  }
}

/** Packs values least significant bit first: the inverse of {@link BitReader}. */
export class BitWriter {
  private readonly out: number[] = [];
  private acc = 0;
  private n = 0;

  /** Appends the low n bits of v; n is 0 to 32. */
  write(v: number, n: number): this {
    for (let done = 0; done < n; ) {
      const take = Math.min(8 - this.n, n - done);
      this.acc |= ((v >>> done) & ((1 << take) - 1)) << this.n;
      this.n += take;
      done += take;
      if (this.n === 8) {
        this.out.push(this.acc);
        this.acc = 0;
        this.n = 0;
      }
    }
    return this;
  }

  bool(b: boolean): this {
    return this.write(b ? 1 : 0, 1);
  }

  bitvar(v: number): this {
    for (v = v >>> 0; v >= 16; v >>>= 4) this.write((v & 15) | 16, 5);
    return this.write(v, 5);
  }

  /** What was written, padded with zeros to a whole byte. */
  done(): Uint8Array {
    return Uint8Array.from(this.n > 0 ? [...this.out, this.acc] : this.out);
  }
}
