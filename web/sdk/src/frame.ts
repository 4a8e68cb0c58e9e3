import { ProtocolError } from './bytes.js';

/** Kinds of frames; docs/protocol.md §2. The number decides how a frame travels. */
export const Kind = {
  hello: 1,
  welcome: 2,
  ack: 3,
  ping: 4,
  pong: 5,
  close: 6,
  request: 8,
  response: 9,
  event: 10,
  relay: 11,
  relayed: 12,
  full: 13,
  resync: 14,
  peer: 15,
  leave: 16,
  draining: 17,
  signal: 18,
  switch: 19,
  input: 20,
  snapshot: 21,
  relayFast: 22,
  relayedFast: 23,
} as const;

/** The two ways through a link. */
export type Lane = 'reliable' | 'unreliable';

const firstNumbered = 8;
const firstUnreliable = 20;

/** The lane that frames of this kind travel on. */
export function laneOf(kind: number): Lane {
  return kind >= firstUnreliable ? 'unreliable' : 'reliable';
}

/** Whether frames of this kind count in the reliable stream. */
export function isNumbered(kind: number): boolean {
  return kind >= firstNumbered && kind < firstUnreliable;
}

/** Sizes in bytes, one set for every transport. */
export const Size = {
  reliablePayload: 61_440,
  reliableBody: 61_440 + 1024,
  message: 65_535,
  datagram: 1150,
  unreliablePayload: 1120,
} as const;

const lengthEscape = 2047;

/** The length of the header of a body of n bytes. */
export function headerSize(n: number): number {
  return n >= lengthEscape ? 4 : 2;
}

/** One frame with its header. */
export function encodeFrame(kind: number, body: Uint8Array): Uint8Array {
  const head = headerSize(body.length);
  const out = new Uint8Array(head + body.length);
  const length = Math.min(body.length, lengthEscape);
  const first = kind | (length << 5);
  out[0] = first;
  out[1] = first >> 8;
  if (head === 4) {
    out[2] = body.length;
    out[3] = body.length >> 8;
  }
  out.set(body, head);
  return out;
}

/** A frame as it was received; the body is a view into the link message. */
export interface Frame {
  kind: number;
  body: Uint8Array;
}

/**
 * Splits a link message into its frames, one at a time. Throws a
 * {@link ProtocolError} at the first that is malformed or too big.
 */
export function* frames(message: Uint8Array): Generator<Frame, void, void> {
  for (let at = 0; at < message.length; ) {
    const left = message.length - at;
    if (left < 2) throw new ProtocolError('frame header is truncated');
    const head = (message[at] as number) | ((message[at + 1] as number) << 8);
    const kind = head & 31;
    let length = head >> 5;
    at += 2;
    if (length === lengthEscape) {
      if (left < 4) throw new ProtocolError('frame header is truncated');
      length = (message[at] as number) | ((message[at + 1] as number) << 8);
      at += 2;
    }
    if (kind === 0) throw new ProtocolError('frame kind 0 is not valid');
    if (length > message.length - at) {
      throw new ProtocolError(`frame of kind ${kind} is truncated: ${length} bytes, ${message.length - at} left`);
    }
    const limit = laneOf(kind) === 'reliable' ? Size.reliableBody : Size.datagram;
    if (length > limit) throw new ProtocolError(`frame of kind ${kind} has ${length} bytes, the limit is ${limit}`);
    yield { kind, body: message.subarray(at, at + length) };
    at += length;
  }
}
