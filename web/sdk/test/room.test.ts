import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BitWriter } from '../src/bits.js';
import { decodeInput, encodeEvent, type InputBatch } from '../src/bodies.js';
import { ByteWriter } from '../src/bytes.js';
import { Code } from '../src/codes.js';
import { Kind } from '../src/frame.js';
import { join } from '../src/join.js';
import type { Room, RoomState } from '../src/room.js';
import { TestServer } from './server.js';

const schema = { types: [{ name: 'thing', fields: [{ name: 'v', min: 0, max: 15 }] }] };

let server: TestServer;
let room: Room;
let joining: Promise<Room>;
let states: RoomState[];

beforeEach(async () => {
  vi.useFakeTimers();
  server = new TestServer();
  server.welcome = { schema, tick: 100, tick_rate: 30, room: { name: 'r', instance: 'i', kind: 'authority', game: 'g' } };
  states = [];
  joining = join({
    url: 'http://server/',
    room: 'r',
    transport: 'websocket',
    dials: server.dials,
    onRoom: (r) => {
      room = r;
      r.on('state', ({ state }) => states.push(state));
    },
  });
  joining.catch(() => {});
  await vi.advanceTimersByTimeAsync(50);
});

afterEach(() => void vi.useRealTimers());

const pass = (ms = 20): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

async function full(tick: number, value: number): Promise<void> {
  const bits = new BitWriter().bitvar(1).bitvar(0).write(1, 8).write(value, 4);
  server.send(Kind.full, new ByteWriter().u8(0).uvarint(tick).uvarint(0).uvarint(1).bytes(bits.done()).done());
  await pass();
}

async function delta(tick: number, back: number, value: number, applied?: number): Promise<void> {
  const w = new ByteWriter().u8(applied === undefined ? 0 : 1).uvarint(tick).uvarint(back);
  if (applied !== undefined) w.u16(applied);
  const bits = new BitWriter().bitvar(0).bitvar(1).bitvar(0).bool(false).write(1, 1).write(value, 4);
  server.send(Kind.snapshot, w.bytes(bits.done()).done());
  await pass();
}

const inputs = (): InputBatch[] =>
  server.current.sent.filter((f) => f.kind === Kind.input).map((f) => decodeInput(f.body));

describe('a room with a simulation', () => {
  test('is joined when its whole world is here', async () => {
    let done = false;
    void joining.then(() => (done = true));
    expect(states).toEqual(['joining']);
    await full(100, 3);
    expect(done).toBe(true);
    expect(states).toEqual(['joining', 'synchronized']);
    expect(room.world.entities.get(1)!.get('v')).toBe(3);
  });

  test('acknowledges a full snapshot at once, and others at least every fourth', async () => {
    await full(100, 3);
    expect(inputs()).toMatchObject([{ acked: 100, missed: (1n << 64n) - 1n, inputs: [] }]);
    for (const tick of [101, 102, 103]) await delta(tick, 1, tick & 15);
    expect(inputs()).toHaveLength(1);
    await delta(105, 2, 5);
    expect(inputs()).toHaveLength(2);
    expect(inputs()[1]).toMatchObject({ acked: 105, missed: ((1n << 64n) - 1n) ^ 0b11110n });
  });

  test('repeats an acknowledgement when no newer snapshot comes', async () => {
    await full(100, 3);
    await pass(600);
    expect(inputs().map((i) => i.acked)).toEqual([100, 100, 100]);
    void room.leave();
    await pass(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('repeats inputs until a snapshot names them', async () => {
    await full(100, 3);
    expect([1, 2].map((b) => room.sendInput(Uint8Array.of(b)))).toEqual([1, 2]);
    await pass();
    expect(inputs().at(-1)).toMatchObject({ seq: 2, inputs: [Uint8Array.of(1), Uint8Array.of(2)] });
    await delta(101, 1, 4, 1);
    room.sendInput(Uint8Array.of(3));
    expect(inputs().at(-1)).toMatchObject({ seq: 3, inputs: [Uint8Array.of(2), Uint8Array.of(3)] });
    expect(inputs().at(-1)!.clientTick).toBeGreaterThanOrEqual(101);
  });

  test('a snapshot that builds on what is not held asks for a full one, once', async () => {
    await full(100, 3);
    await delta(105, 3, 9);
    await delta(106, 3, 9);
    expect(room.state).toBe('resynchronizing');
    expect(server.got.filter((f) => f.kind === Kind.resync)).toHaveLength(1);
    expect(room.world.entities.get(1)!.get('v')).toBe(3);
    await full(106, 9);
    expect(room.state).toBe('synchronized');
    expect(room.stats()).toMatchObject({ resyncs: 1, dropped: 2 });
  });

  test('a snapshot that is malformed asks for a full one', async () => {
    await full(100, 3);
    server.send(Kind.snapshot, Uint8Array.of(0, 101, 1, 0xff, 0xff, 0xff));
    await pass();
    expect(room.state).toBe('resynchronizing');
  });

  test('a malformed full snapshot ends the session: nothing could make it good', async () => {
    await full(100, 3);
    server.send(Kind.full, Uint8Array.of(0, 101, 0, 1, 0xff, 0xff));
    await pass();
    expect(room.state).toBe('closed');
  });

  test('holds an event until its tick is applied', async () => {
    await full(100, 3);
    const heard: unknown[] = [];
    room.onEvent('hit', (e) => heard.push([e.tick, e.data, room.world.tick]));
    server.send(Kind.event, encodeEvent({ tick: 101, name: 'hit', payload: new TextEncoder().encode('{"by":1}') }));
    await pass();
    expect(heard).toEqual([]);
    await delta(101, 1, 4);
    expect(heard).toEqual([[101, { by: 1 }, 101]]);
  });

  test('tells of spawns before the snapshot, and of despawns with their reason', async () => {
    const heard: string[] = [];
    room.on('spawn', (e) => heard.push(`spawn ${e.id}`));
    room.on('despawn', (d) => heard.push(`despawn ${d.entity.id} ${d.reason}`));
    room.on('snapshot', (a) => heard.push(`snapshot ${a.tick}`));
    await full(100, 3);
    const bits = new BitWriter().bitvar(1).bitvar(0).write(1, 8).write(6, 4).bitvar(0);
    server.send(Kind.snapshot, new ByteWriter().u8(0).uvarint(101).uvarint(1).bytes(bits.done()).done());
    await pass();
    expect(heard).toEqual(['spawn 1', 'snapshot 100', 'despawn 1 6', 'snapshot 101']);
  });

  test('takes no inputs while it is away, and forgets those under way', async () => {
    await full(100, 3);
    room.sendInput(Uint8Array.of(1));
    server.current.cut();
    expect(room.sendInput(Uint8Array.of(2))).toBeUndefined();
    await pass(1000);
    expect(room.state).toBe('synchronized');
    expect(room.stats().inputsWaiting).toBe(0);
    expect(room.sendInput(Uint8Array.of(3))).toBe(2);
  });

  test('is resynchronized after a gap', async () => {
    await full(100, 3);
    server.forget();
    server.current.cut();
    await pass(1000);
    expect(room.state).toBe('resynchronizing');
    await full(7, 8); // another worker: its ticks start again
    expect(room.state).toBe('synchronized');
    expect(room.world.tick).toBe(7);
  });

  test('has no world to show without a simulation', async () => {
    const other = new TestServer();
    const joined = join({ url: 'http://server/', room: 'r', transport: 'websocket', dials: other.dials });
    await pass(50);
    await expect(joined.then((r) => r.world)).rejects.toMatchObject({ code: Code.no_room });
  });
});
