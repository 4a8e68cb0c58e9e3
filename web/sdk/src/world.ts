import { ProtocolError } from './bytes.js';
import { Entity } from './entity.js';
import { Schema } from './schema.js';
import { DivergedError, decodeChunk, decodeDelta, decodeHead, type Chunk, type DeltaHead, type EntityRecord } from './snapshot.js';

/** What a snapshot did to the world. */
export interface Applied {
  readonly tick: number;
  readonly full: boolean;
  /** The last input of this client that the server applied; not named again once acknowledged. */
  readonly input: number | undefined;
  readonly spawned: readonly Entity[];
  readonly despawned: readonly { entity: Entity; reason: number }[];
  /** Entities that were held before and of which something changed. */
  readonly updated: readonly Entity[];
}

const mask64 = (1n << 64n) - 1n;

/**
 * The client's copy of a room's entities. A snapshot is decoded whole before any
 * of it is applied: one that is malformed changes nothing.
 */
export class World {
  private readonly held = new Map<number, Entity>();
  private newest = 0;
  private origin = 0; // tick of the last full snapshot
  private history = 0n; // bit i: the snapshot of tick newest-1-i was applied
  private chunks: Chunk[] = [];

  constructor(readonly schema: Schema) {}

  /** Newest snapshot tick applied, 0 for none. */
  get tick(): number {
    return this.newest;
  }

  get entities(): ReadonlyMap<number, Entity> {
    return this.held;
  }

  /** Bit i: the snapshot of tick `tick - 1 - i` was not applied. */
  get missed(): bigint {
    return ~this.history & mask64;
  }

  /** Hash of all entities: equal on every client that holds the same. docs/protocol.md §6. */
  hash(): number {
    let sum = 0;
    for (const e of this.held.values()) sum = (sum + e.hash()) >>> 0;
    return sum;
  }

  /**
   * Applies a delta snapshot. Undefined if it is stale. Throws a
   * {@link DivergedError} if it builds on what this world does not hold, and a
   * {@link ProtocolError} if it is malformed.
   */
  applyDelta(body: Uint8Array): Applied | undefined {
    const head = decodeHead(body);
    if (head.tick <= this.newest) return undefined;
    this.checkBaseline(head);
    const delta = decodeDelta(this.schema, head, (id) => this.held.get(id));
    const despawned: { entity: Entity; reason: number }[] = [];
    for (const d of delta.despawns) {
      const entity = this.held.get(d.id);
      if (entity?.generation !== d.generation) continue; // a repeated one
      this.held.delete(d.id);
      despawned.push({ entity, reason: d.reason });
    }
    const spawned: Entity[] = [];
    const updated: Entity[] = [];
    for (const r of delta.records) this.put(r, delta.tick, spawned, updated, despawned);
    this.advance(delta.tick);
    return { tick: delta.tick, full: false, input: delta.input, spawned, despawned, updated };
  }

  /**
   * Takes a chunk of a full snapshot; the last one applies it, whatever was held
   * before. Undefined while chunks are missing. Throws as {@link applyDelta}.
   */
  applyChunk(body: Uint8Array): Applied | undefined {
    const chunk = decodeChunk(this.schema, body);
    if (chunk.index === 0) this.chunks = [];
    const first = this.chunks[0] ?? chunk;
    if (chunk.index !== this.chunks.length || chunk.tick !== first.tick || chunk.count !== first.count) {
      this.chunks = [];
      throw new DivergedError(`full snapshot: chunk ${chunk.index} of tick ${chunk.tick} is out of turn`);
    }
    this.chunks.push(chunk);
    if (this.chunks.length < chunk.count) return undefined;
    const whole = this.chunks;
    this.chunks = [];
    return this.replace(chunk, whole.flatMap((c) => c.records));
  }

  private replace(last: Chunk, records: (EntityRecord & { full: true })[]): Applied {
    const spawned: Entity[] = [];
    const updated: Entity[] = [];
    const despawned: { entity: Entity; reason: number }[] = [];
    const named = new Set(records.map((r) => r.id));
    if (named.size < records.length) throw new ProtocolError('full snapshot has an entity twice');
    for (const [id, entity] of this.held) {
      if (named.has(id)) continue;
      this.held.delete(id);
      despawned.push({ entity, reason: 0 });
    }
    for (const r of records) this.put(r, last.tick, spawned, updated, despawned);
    this.newest = this.origin = last.tick;
    this.history = 0n;
    return { tick: last.tick, full: true, input: last.input, spawned, despawned, updated };
  }

  private put(
    r: EntityRecord,
    tick: number,
    spawned: Entity[],
    updated: Entity[],
    despawned: { entity: Entity; reason: number }[],
  ): void {
    let entity = this.held.get(r.id);
    if (r.full) {
      if (entity !== undefined && (entity.generation !== r.generation || entity.type !== r.type)) {
        despawned.push({ entity, reason: 0 });
        entity = undefined;
      }
      if (entity === undefined) {
        entity = new Entity(r.id, r.generation, r.type, r.numbers);
        this.held.set(r.id, entity);
        spawned.push(entity);
      } else {
        if (!entity.set(r.numbers.entries())) return;
        updated.push(entity);
      }
    } else {
      if (entity === undefined) throw new DivergedError(`entity ${r.id} is changed but not held`);
      if (!entity.set(r.changed)) return;
      updated.push(entity);
    }
    entity.changedAt = tick;
  }

  private checkBaseline({ tick, baseline }: DeltaHead): void {
    if (baseline === undefined) return;
    const age = this.newest - baseline;
    // Of ticks further back than the history only the server can know.
    const applied = age === 0 || age > 64 || (age > 0 && ((this.history >> BigInt(age - 1)) & 1n) === 1n);
    if (!applied || baseline < this.origin) {
      throw new DivergedError(`snapshot ${tick} builds on tick ${baseline}, which was not applied`);
    }
  }

  private advance(tick: number): void {
    const by = BigInt(tick - this.newest);
    if (by > 64n) this.history = 0n;
    else this.history = (((this.history << 1n) | (this.newest > 0 ? 1n : 0n)) << (by - 1n)) & mask64;
    this.newest = tick;
  }
}
