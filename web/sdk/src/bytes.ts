/** What the decoders of this SDK throw on bytes that break the protocol. */
export class ProtocolError extends Error {
  override name = 'ProtocolError';
}

const utf8 = new TextEncoder();
const text = new TextDecoder('utf-8', { fatal: false });

/** Encodes text as UTF-8. */
export function encodeText(s: string): Uint8Array {
  return utf8.encode(s);
}

/** Decodes UTF-8; bytes that are not valid become U+FFFD. */
export function decodeText(b: Uint8Array): string {
  return text.decode(b);
}

/**
 * Reads a body from front to back. Everything is checked: reading past the end
 * throws a {@link ProtocolError} and never yields made-up values.
 */
export class ByteReader {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  u8(what: string): number {
    const b = this.bytes[this.at];
    if (b === undefined) throw new ProtocolError(`${what} is truncated`);
    this.at++;
    return b;
  }

  u16(what: string): number {
    return this.u8(what) | (this.u8(what) << 8);
  }

  u32(what: string): number {
    return (this.u16(what) | (this.u16(what) << 16)) >>> 0;
  }

  /** A base-128 varint of at most 32 bits. */
  uvarint(what: string): number {
    let v = 0;
    for (let i = 0; i < 5; i++) {
      const b = this.u8(what);
      v += (b & 127) * 2 ** (7 * i);
      if (b < 128) {
        if (v > 0xffffffff) break;
        return v;
      }
    }
    throw new ProtocolError(`${what} has more than 32 bits`);
  }

  /** A base-128 varint of at most 64 bits. */
  uvarint64(what: string): bigint {
    let v = 0n;
    for (let i = 0n; i < 10n; i++) {
      const b = this.u8(what);
      v |= BigInt(b & 127) << (7n * i);
      if (b < 128) {
        if (v >> 64n) break;
        return v;
      }
    }
    throw new ProtocolError(`${what} has more than 64 bits`);
  }

  /** A view of the next n bytes. */
  take(n: number, what: string): Uint8Array {
    if (n > this.left) throw new ProtocolError(`${what} is truncated: ${n} bytes, ${this.left} left`);
    this.at += n;
    return this.bytes.subarray(this.at - n, this.at);
  }

  /** A view of everything not read yet. */
  rest(): Uint8Array {
    return this.take(this.left, 'rest');
  }
}

/** Appends to a buffer that grows. */
export class ByteWriter {
  private buf: Uint8Array;
  private at = 0;

  constructor(capacity = 64) {
    this.buf = new Uint8Array(capacity);
  }

  get length(): number {
    return this.at;
  }

  private room(n: number): void {
    if (this.at + n <= this.buf.length) return;
    const bigger = new Uint8Array(Math.max(2 * this.buf.length, this.at + n));
    bigger.set(this.buf.subarray(0, this.at));
    this.buf = bigger;
  }

  u8(v: number): this {
    this.room(1);
    this.buf[this.at++] = v;
    return this;
  }

  u16(v: number): this {
    return this.u8(v).u8(v >>> 8);
  }

  u32(v: number): this {
    return this.u16(v).u16(v >>> 16);
  }

  /** v is an integer from 0 to 2^53. */
  uvarint(v: number): this {
    while (v >= 128) {
      this.u8((v % 128) | 128);
      v = Math.floor(v / 128);
    }
    return this.u8(v);
  }

  uvarint64(v: bigint): this {
    while (v >= 128n) {
      this.u8(Number(v & 127n) | 128);
      v >>= 7n;
    }
    return this.u8(Number(v));
  }

  bytes(b: Uint8Array): this {
    this.room(b.length);
    this.buf.set(b, this.at);
    this.at += b.length;
    return this;
  }

  /** A copy of what was written. */
  done(): Uint8Array {
    return this.buf.slice(0, this.at);
  }
}
