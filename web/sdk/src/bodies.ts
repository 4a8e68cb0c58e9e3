import { ByteReader, ByteWriter, ProtocolError, decodeText, encodeText } from './bytes.js';
import { Size, type Lane } from './frame.js';

/** A call to the room's game. */
export interface Request {
  id: number;
  name: string;
  payload: Uint8Array;
}

/** The answer to the request with the same id; code 0 is success. */
export interface Response {
  id: number;
  code: number;
  payload: Uint8Array;
}

/** Something that happened in the room at a tick. */
export interface Event {
  tick: number;
  name: string;
  payload: Uint8Array;
}

/** A message to other members; an empty list of addressees means all others. */
export interface Relay {
  to: number[];
  payload: Uint8Array;
}

/** A message of another member. The stamp is 0 on the reliable lane. */
export interface Relayed {
  sender: number;
  stamp: number;
  payload: Uint8Array;
}

/** A batch of inputs and the acknowledgement of snapshots; docs/protocol.md §5. */
export interface InputBatch {
  /** Number of the newest input, 16 bits that wrap. */
  seq: number;
  /** The server tick that the client believed in. */
  clientTick: number;
  /** Newest snapshot tick applied, 0 for none. */
  acked: number;
  /** Bit i: the snapshot of tick acked-1-i was not applied. */
  missed: bigint;
  /** Oldest first; the last has number seq. */
  inputs: Uint8Array[];
}

/** Most bytes of a request's or event's name. */
export const maxNameBytes = 64;
/** Most addressees of one relayed message. */
export const maxRelayTargets = 64;
/** Most inputs in one frame. */
export const maxInputs = 32;
/** Most bytes of one input. */
export const maxInputBytes = 255;

export function encodeRequest(r: Request): Uint8Array {
  const w = new ByteWriter(r.payload.length + 80).uvarint(r.id);
  return writeName(w, r.name).bytes(reliable(r.payload)).done();
}

export function decodeRequest(body: Uint8Array): Request {
  const r = new ByteReader(body);
  const request = { id: r.uvarint('request id'), name: readName(r), payload: r.rest() };
  if (request.payload.length > Size.reliablePayload) throw new ProtocolError('request payload is too big');
  return request;
}

export function encodeResponse(r: Response): Uint8Array {
  return new ByteWriter(r.payload.length + 16).uvarint(r.id).uvarint(r.code).bytes(r.payload).done();
}

export function decodeResponse(body: Uint8Array): Response {
  const r = new ByteReader(body);
  const id = r.uvarint('response id');
  const code = r.uvarint('response code');
  if (code > 0xffff) throw new ProtocolError(`response code ${code} is above 65535`);
  return { id, code, payload: r.rest() };
}

export function encodeEvent(e: Event): Uint8Array {
  const w = new ByteWriter(e.payload.length + 80).uvarint(e.tick);
  return writeName(w, e.name).bytes(e.payload).done();
}

export function decodeEvent(body: Uint8Array): Event {
  const r = new ByteReader(body);
  return { tick: r.uvarint('event tick'), name: readName(r), payload: r.rest() };
}

export function encodeRelay(lane: Lane, r: Relay): Uint8Array {
  if (r.to.length > maxRelayTargets) throw new RangeError(`relay: at most ${maxRelayTargets} addressees`);
  const limit = lane === 'reliable' ? Size.reliablePayload : Size.unreliablePayload;
  if (r.payload.length > limit) {
    throw new RangeError(`relay: ${r.payload.length} bytes on the ${lane} lane, the limit is ${limit}`);
  }
  const w = new ByteWriter(r.payload.length + 16).uvarint(r.to.length);
  for (const id of r.to) w.uvarint(id);
  return w.bytes(r.payload).done();
}

export function decodeRelay(body: Uint8Array): Relay {
  const r = new ByteReader(body);
  const count = r.uvarint('relay count');
  if (count > maxRelayTargets) throw new ProtocolError(`relay: at most ${maxRelayTargets} addressees`);
  const to: number[] = [];
  for (let i = 0; i < count; i++) to.push(r.uvarint('relay addressee'));
  return { to, payload: r.rest() };
}

export function encodeRelayed(lane: Lane, m: Relayed): Uint8Array {
  const w = new ByteWriter(m.payload.length + 8).uvarint(m.sender);
  if (lane === 'unreliable') w.u16(m.stamp);
  return w.bytes(m.payload).done();
}

export function decodeRelayed(lane: Lane, body: Uint8Array): Relayed {
  const r = new ByteReader(body);
  const sender = r.uvarint('relayed sender');
  const stamp = lane === 'unreliable' ? r.u16('relayed stamp') : 0;
  return { sender, stamp, payload: r.rest() };
}

export function encodeAck(received: number): Uint8Array {
  return new ByteWriter(8).uvarint(received).done();
}

/** The count of numbered frames received; above 2^53 it loses precision, which no session lives to see. */
export function decodeAck(body: Uint8Array): number {
  const r = new ByteReader(body);
  const v = r.uvarint64('ack');
  if (r.left > 0) throw new ProtocolError('ack has bytes after its number');
  return Number(v);
}

export function encodeInput(b: InputBatch): Uint8Array {
  if (b.inputs.length > maxInputs) throw new RangeError(`input: at most ${maxInputs} inputs in a frame`);
  const w = new ByteWriter(64).u16(b.seq).u32(b.clientTick).u32(b.acked).uvarint64(b.missed).u8(b.inputs.length);
  for (const p of b.inputs) {
    if (p.length > maxInputBytes) throw new RangeError(`input: ${p.length} bytes, the limit is ${maxInputBytes}`);
    w.u8(p.length).bytes(p);
  }
  return w.done();
}

export function decodeInput(body: Uint8Array): InputBatch {
  const r = new ByteReader(body);
  const seq = r.u16('input seq');
  const clientTick = r.u32('input tick');
  const acked = r.u32('input acked');
  const missed = r.uvarint64('input mask');
  const count = r.u8('input count');
  if (count > maxInputs) throw new ProtocolError(`input count ${count}: at most ${maxInputs}`);
  const inputs: Uint8Array[] = [];
  for (let i = 0; i < count; i++) inputs.push(r.take(r.u8('input length'), 'input payload'));
  if (r.left > 0) throw new ProtocolError(`input has ${r.left} bytes after its payloads`);
  return { seq, clientTick, acked, missed, inputs };
}

/** Whether a comes after b on the ring of 16-bit numbers (RFC 1982). */
export function newer16(a: number, b: number): boolean {
  const d = (a - b) & 0xffff;
  return d !== 0 && d < 0x8000;
}

function writeName(w: ByteWriter, name: string): ByteWriter {
  const b = encodeText(name);
  if (b.length === 0 || b.length > maxNameBytes) throw new RangeError(`name: 1 to ${maxNameBytes} bytes, not ${b.length}`);
  return w.uvarint(b.length).bytes(b);
}

function readName(r: ByteReader): string {
  const n = r.uvarint('name length');
  if (n === 0 || n > maxNameBytes) throw new ProtocolError(`name: 1 to ${maxNameBytes} bytes, not ${n}`);
  return decodeText(r.take(n, 'name'));
}

function reliable(payload: Uint8Array): Uint8Array {
  if (payload.length > Size.reliablePayload) {
    throw new RangeError(`payload of ${payload.length} bytes, the limit is ${Size.reliablePayload}`);
  }
  return payload;
}
