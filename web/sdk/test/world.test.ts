import { describe, expect, test } from 'vitest';
import { BitWriter } from '../src/bits.js';
import { ByteWriter, ProtocolError } from '../src/bytes.js';
import { Schema, type SchemaJSON } from '../src/schema.js';
import { DivergedError } from '../src/snapshot.js';
import { World, type Applied } from '../src/world.js';
import { fromHex, mangled, shared } from './bytes.js';

interface Step {
  name: string;
  kind: 'snapshot' | 'full';
  body: string;
  /** resync, malformed, … if it must be refused; stale if it changes nothing. */
  error?: string;
  stale?: boolean;
  done: boolean;
  input?: number;
  spawned: { id: number; generation: number; type: number }[];
  despawned: { id: number; generation: number; reason?: number }[];
  changed: number[];
  then: {
    tick: number;
    missed: string;
    hash: number;
    entities: { id: number; generation: number; type: number; values?: number[] }[];
  };
}

const story = shared<{ schema: SchemaJSON; steps: Step[] }>('authority/replica/testdata/vectors.json');

function take(world: World, step: Step): Applied | undefined {
  const body = fromHex(step.body);
  return step.kind === 'full' ? world.applyChunk(body) : world.applyDelta(body);
}

function holds(world: World): Step['then'] {
  const entities = [...world.entities.values()].sort((a, b) => a.id - b.id);
  return {
    tick: world.tick,
    missed: world.missed.toString(16).padStart(16, '0'),
    hash: world.hash(),
    entities: entities.map((e) => ({
      id: e.id,
      generation: e.generation,
      type: e.type.index,
      ...(e.type.fields.length > 0 ? { values: e.type.fields.map((f) => e.int(f.index)) } : {}),
    })),
  };
}

describe('snapshots', () => {
  const world = new World(new Schema(story.schema));

  test.each(story.steps)('golden story: $name', (step) => {
    let applied: Applied | undefined;
    let error: unknown;
    try {
      applied = take(world, step);
    } catch (e) {
      error = e;
    }
    if (step.error === undefined) expect(error).toBeUndefined();
    else expect(error).toBeInstanceOf(step.error === 'resync' ? DivergedError : ProtocolError);
    if (applied !== undefined) {
      expect(applied.input).toBe(step.input);
      const ids = (list: readonly { id: number }[]): number[] => list.map((e) => e.id).sort((a, b) => a - b);
      expect(ids(applied.spawned)).toEqual(ids(step.spawned));
      expect(ids(applied.updated)).toEqual(step.changed);
      expect(ids(applied.despawned.map((d) => d.entity))).toEqual(ids(step.despawned));
      for (const d of step.despawned) {
        expect(applied.despawned).toContainEqual(
          expect.objectContaining({ reason: d.reason ?? 0, entity: expect.objectContaining({ generation: d.generation }) }),
        );
      }
    } else {
      expect(step.spawned.length + step.despawned.length + step.changed.length).toBe(0);
    }
    expect(holds(world)).toEqual(step.then);
  });

  test('whatever a snapshot is turned into, it is applied whole or changes nothing', () => {
    const steps = story.steps.filter((s) => s.error === undefined);
    let refused = 0;
    for (const [i, step] of steps.entries()) {
      const before = (): World => {
        const w = new World(new Schema(story.schema));
        for (const s of steps.slice(0, i)) take(w, s);
        return w;
      };
      let w = before();
      const state = JSON.stringify(holds(w));
      for (const [n, body] of [...mangled(fromHex(step.body), i)].entries()) {
        if (n % 7 !== i % 7) continue; // rebuilding the world takes its time
        try {
          if (step.kind === 'full') w.applyChunk(body);
          else w.applyDelta(body);
          w = before();
        } catch (e) {
          if (!(e instanceof ProtocolError || e instanceof DivergedError)) throw e;
          refused++;
          expect(JSON.stringify(holds(w))).toBe(state);
          if (step.kind === 'full') w = before(); // the chunks before it are discarded
        }
      }
    }
    expect(refused).toBeGreaterThan(1000);
  });

  test('a delta record of an entity that the same snapshot ends asks for a resync', () => {
    const w = filled();
    const bits = new BitWriter().bitvar(1).bitvar(0).write(1, 8).write(2, 4); // despawn 1
    bits.bitvar(1).bitvar(0).bool(false).write(0, 1); // and change it
    expect(() => w.applyDelta(delta(11, 1, bits))).toThrow(DivergedError);
    expect(w.entities.size).toBe(1);
  });

  test('an id with another generation is another entity', () => {
    const w = filled();
    const old = w.entities.get(1);
    const bits = new BitWriter().bitvar(0).bitvar(1).bitvar(0).bool(true).write(2, 8).write(5, 4);
    const applied = w.applyDelta(delta(11, 1, bits));
    expect(applied?.despawned.map((d) => d.entity)).toEqual([old]);
    expect(applied?.spawned).toEqual([w.entities.get(1)]);
    expect(w.entities.get(1)).not.toBe(old);
  });

  test('a full snapshot takes away what it does not name, and the history', () => {
    const w = filled();
    w.applyDelta(delta(11, 1, new BitWriter().bitvar(0).bitvar(0)));
    expect(w.missed & 1n).toBe(0n);
    const applied = w.applyChunk(new ByteWriter().u8(0).uvarint(20).uvarint(0).uvarint(1).bytes(new BitWriter().bitvar(0).done()).done());
    expect(applied?.despawned).toHaveLength(1);
    expect(w.missed).toBe((1n << 64n) - 1n);
    expect(() => w.applyDelta(delta(21, 10, new BitWriter().bitvar(0).bitvar(0)))).toThrow(DivergedError);
  });
});

describe('schemas', () => {
  test.each([
    [{}, 'schema.types'],
    [{ types: [] }, '1 to 64 types'],
    [{ types: [{ name: 'a', fields: [{ name: 'x', min: 1, max: 1 }] }] }, 'a.x: min must be below max'],
    [{ types: [{ name: 'a', fields: [{ name: 'x', min: 0, max: 2 ** 32 }] }] }, 'a.x: min, max and step'],
    [{ types: [{ name: 'a', fields: Array(33).fill({ name: 'x', min: 0, max: 1 }) }] }, 'at most 32 fields'],
  ])('a faulty one is refused by name: %j', (json, words) => {
    expect(() => new Schema(json as SchemaJSON)).toThrow(words);
  });
});

function filled(): World {
  const w = new World(new Schema({ types: [{ name: 'thing', fields: [{ name: 'v', min: 0, max: 15 }] }] }));
  const bits = new BitWriter().bitvar(1).bitvar(0).write(1, 8).write(3, 4);
  w.applyChunk(new ByteWriter().u8(0).uvarint(10).uvarint(0).uvarint(1).bytes(bits.done()).done());
  return w;
}

function delta(tick: number, back: number, bits: BitWriter): Uint8Array {
  return new ByteWriter().u8(0).uvarint(tick).uvarint(back).bytes(bits.done()).done();
}
