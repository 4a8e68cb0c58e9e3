import { BitReader } from './bits.js';
import { ByteReader, ProtocolError } from './bytes.js';
import { Size } from './frame.js';
import type { EntityType, Field, Schema } from './schema.js';

/** An entity's record in a snapshot: whole, or only the fields that changed. */
export type EntityRecord =
  | { readonly full: true; readonly id: number; readonly generation: number; readonly type: EntityType; readonly numbers: Uint32Array }
  | { readonly full: false; readonly id: number; readonly changed: readonly (readonly [index: number, number: number])[] };

/** The end of an entity. The reason is the game's own. */
export interface Despawn {
  readonly id: number;
  readonly generation: number;
  readonly reason: number;
}

/** What a delta snapshot says before its bits; docs/protocol.md §6. */
export interface DeltaHead {
  readonly tick: number;
  /** Tick that it builds on, undefined if it builds on none. */
  readonly baseline: number | undefined;
  /** The last input of this client that the server applied. */
  readonly input: number | undefined;
  /** The bits. */
  readonly rest: Uint8Array;
}

/** A decoded delta snapshot. */
export interface Delta extends DeltaHead {
  readonly despawns: readonly Despawn[];
  readonly records: readonly EntityRecord[];
}

/** A decoded chunk of a full snapshot. */
export interface Chunk {
  readonly tick: number;
  readonly index: number;
  readonly count: number;
  readonly input: number | undefined;
  readonly records: readonly (EntityRecord & { full: true })[];
}

/** Most entities alive, and the largest id. */
const maxEntities = 65_535;
/** An upper bound of chunks: 65,535 entities of 1,000 bytes fit. */
const maxChunks = 8192;

/** Thrown where a delta can not stand on what the client holds: it needs a full snapshot. */
export class DivergedError extends Error {
  override name = 'DivergedError';
}

/** The entity that is held under an id, if any. */
export type Held = (id: number) => { readonly type: EntityType; readonly generation: number } | undefined;

/** Decodes the head of a delta; throws a {@link ProtocolError}. */
export function decodeHead(body: Uint8Array): DeltaHead {
  if (body.length > Size.datagram) throw new ProtocolError(`snapshot of ${body.length} bytes, the limit is ${Size.datagram}`);
  const r = new ByteReader(body);
  const flags = r.u8('snapshot flags');
  const tick = r.uvarint('snapshot tick');
  const back = r.uvarint('snapshot baseline');
  if (back >= tick) throw new ProtocolError(`snapshot of tick ${tick} builds on one ${back} ticks before it`);
  const input = readInput(r, flags);
  return { tick, baseline: back === 0 ? undefined : tick - back, input, rest: r.rest() };
}

/**
 * Decodes the bits of a delta. The type of the entity that is held decides how
 * many bits a record has; throws a {@link DivergedError} at a record of one that
 * is not held, and a {@link ProtocolError} at bytes that make no sense.
 */
export function decodeDelta(schema: Schema, head: DeltaHead, held: Held): Delta {
  const bits = new BitReader(head.rest);
  const despawns: Despawn[] = [];
  const ended = new Map<number, number>(); // id to generation
  for (let n = bits.bitvar(), id = 0; n > 0 && !bits.over; n--) {
    id = nextId(bits, id);
    const generation = bits.read(8);
    despawns.push({ id, generation, reason: bits.read(4) });
    ended.set(id, generation);
  }
  const records: EntityRecord[] = [];
  for (let n = bits.bitvar(), id = 0; n > 0 && !bits.over; n--) {
    id = nextId(bits, id);
    if (bits.bool()) {
      records.push(readFull(schema, bits, id));
      continue;
    }
    const entity = held(id);
    const stays = entity !== undefined && entity.generation !== ended.get(id);
    records.push(readChanged(bits, id, stays ? entity.type : undefined));
  }
  finish(bits, 'snapshot');
  return { ...head, despawns, records };
}

/** Decodes a chunk of a full snapshot; throws a {@link ProtocolError}. */
export function decodeChunk(schema: Schema, body: Uint8Array): Chunk {
  const r = new ByteReader(body);
  const flags = r.u8('full flags');
  const tick = r.uvarint('full tick');
  const index = r.uvarint('full chunk index');
  const count = r.uvarint('full chunk count');
  if (tick === 0 || count > maxChunks || index >= count) {
    throw new ProtocolError(`full snapshot of tick ${tick}: chunk ${index} of ${count}, at most ${maxChunks} are accepted`);
  }
  const input = readInput(r, flags);
  const bits = new BitReader(r.rest());
  const records: (EntityRecord & { full: true })[] = [];
  for (let n = bits.bitvar(), id = 0; n > 0 && !bits.over; n--) {
    id = nextId(bits, id);
    records.push(readFull(schema, bits, id));
  }
  finish(bits, 'full snapshot');
  return { tick, index, count, input, records };
}

function nextId(bits: BitReader, previous: number): number {
  const id = previous + bits.bitvar() + 1;
  if (id > maxEntities) throw new ProtocolError(`entity id ${id} is above ${maxEntities}`);
  return id;
}

function readInput(r: ByteReader, flags: number): number | undefined {
  if (flags & ~1) throw new ProtocolError(`snapshot flags ${flags} are not known`);
  return flags & 1 ? r.u16('snapshot input') : undefined;
}

function finish(bits: BitReader, what: string): void {
  bits.check(what);
  if (bits.left >= 8) throw new ProtocolError(`${what} goes on after its last record`);
}

/** Numbers that no value has stand for the largest: nobody holds another number than the server. */
function readNumber(bits: BitReader, f: Field): number {
  return Math.min(bits.read(f.bits), f.top);
}

function readFull(schema: Schema, bits: BitReader, id: number): EntityRecord & { full: true } {
  const generation = bits.read(8);
  const typeIndex = bits.read(schema.typeBits);
  const type = schema.types[typeIndex];
  if (type === undefined) throw new ProtocolError(`entity ${id} has type ${typeIndex}, the schema has ${schema.types.length}`);
  const numbers = new Uint32Array(type.fields.length);
  for (const f of type.fields) numbers[f.index] = readNumber(bits, f);
  return { full: true, id, generation, type, numbers };
}

function readChanged(bits: BitReader, id: number, type: EntityType | undefined): EntityRecord {
  if (bits.over) throw new ProtocolError('snapshot is truncated');
  if (type === undefined) throw new DivergedError(`entity ${id} is changed but not held`);
  const which = type.fields.filter(() => bits.bool());
  const changed = which.map((f) => [f.index, readNumber(bits, f)] as const);
  return { full: false, id, changed };
}
