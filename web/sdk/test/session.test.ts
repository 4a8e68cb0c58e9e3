import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { encodeEvent, encodeRelayed } from '../src/bodies.js';
import { Code, GatehouseError } from '../src/codes.js';
import { encodeJSON } from '../src/control.js';
import { Kind, encodeFrame } from '../src/frame.js';
import { join, type JoinOptions } from '../src/join.js';
import { DialError } from '../src/link.js';
import type { Room, RoomState } from '../src/room.js';
import { random } from './bytes.js';
import { TestServer } from './server.js';

const empty = new Uint8Array(0);
const patient = { reliable_bytes: 61_440, unreliable_bytes: 1120, ping_ms: 5000, timeout_ms: 15_000, messages_per_second: 120 };
const text = (b: Uint8Array): string => new TextDecoder().decode(b);

let server: TestServer;

beforeEach(() => {
  vi.useFakeTimers();
  server = new TestServer();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Joins, and lets time pass until it is done. */
async function joined(options: Partial<JoinOptions> = {}): Promise<{ room: Room; states: RoomState[] }> {
  const states: RoomState[] = [];
  const joining = join({
    url: 'http://server/',
    room: 'room',
    transport: 'websocket',
    dials: server.dials,
    onRoom: (room) => room.on('state', ({ state }) => states.push(state)),
    ...options,
  });
  joining.catch(() => {});
  await vi.advanceTimersByTimeAsync(1000);
  return { room: await joining, states };
}

const event = (name: string): Uint8Array => encodeEvent({ tick: 0, name, payload: empty });

describe('joining', () => {
  test('goes through its states and sends nothing between hello and welcome', async () => {
    const { room, states } = await joined({ name: 'Ann', token: 't', profile: { hat: 3 } });
    expect(states).toEqual(['joining', 'synchronized']);
    expect(server.hellos).toEqual([{ versions: [1], room: 'room', name: 'Ann', token: 't', profile: { hat: 3 } }]);
    expect(server.current.sent.map((f) => f.kind).slice(0, 2)).toEqual([Kind.hello, Kind.ping]);
    expect([...room.peers.values()]).toEqual([{ id: 1, name: 'Ann' }]);
    expect(room.transport).toBe('websocket');
  });

  test('where WebRTC can not connect it says why and plays over WebSocket', async () => {
    server.refuse.set('webrtc', new DialError('webrtc', 'no UDP here'));
    const reasons: string[] = [];
    const { room } = await joined({ transport: 'webrtc', onFallback: (f) => reasons.push(f.reason) });
    expect(reasons).toEqual(['no UDP here']);
    expect(room.transport).toBe('websocket');
  });

  test('a terminal refusal over WebRTC is not tried again over WebSocket', async () => {
    server.refuse.set('webrtc', new DialError('webrtc', 'the token is for another room', Code.unauthorized));
    await expect(joined({ transport: 'auto' })).rejects.toMatchObject({ code: Code.unauthorized });
    expect(server.links).toEqual([]);
  });

  test('a close instead of a welcome rejects with its code', async () => {
    server.close = { code: Code.room_full, name: 'room_full', reason: 'the room is full' };
    await expect(joined()).rejects.toEqual(new GatehouseError(Code.room_full, 'the room is full'));
  });

  test('a server that is overloaded is asked again, a few times', async () => {
    server.close = { code: Code.overloaded, name: 'overloaded', retry: true };
    await expect(joined()).rejects.toMatchObject({ code: Code.overloaded });
    expect(server.hellos).toHaveLength(3);
  });

  test('a server that does not answer is given up', async () => {
    server.mute = true;
    const joining = join({ url: 'http://server/', room: 'room', transport: 'websocket', dials: server.dials });
    joining.catch(() => {});
    await vi.advanceTimersByTimeAsync(60_000);
    await expect(joining).rejects.toMatchObject({ reason: 'no welcome came in time' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a welcome that is no welcome ends the session as a protocol error', async () => {
    server.welcome = { limits: {} as never };
    await expect(joined()).rejects.toMatchObject({ code: Code.protocol });
  });
});

describe('requests', () => {
  test('resolve with the value of the response, or reject with its code', async () => {
    const { room } = await joined();
    server.answer = (name, payload) =>
      name === 'ok' ? { code: 0, payload } : { code: Code.refused, payload: encodeJSON({ result: 'no' }) };
    const ok = room.request('ok', { target: 7 });
    const refused = room.request('bad');
    refused.catch(() => {});
    await vi.advanceTimersByTimeAsync(50);
    await expect(ok).resolves.toEqual({ target: 7 });
    await expect(refused).rejects.toMatchObject({ code: Code.refused, payload: { result: 'no' } });
  });

  test('time out', async () => {
    const { room } = await joined();
    const asked = room.request('x', undefined, { timeoutMs: 100 });
    asked.catch(() => {});
    await vi.advanceTimersByTimeAsync(200);
    await expect(asked).rejects.toMatchObject({ code: Code.timeout });
  });

  test('survive a lost link, and are sent once', async () => {
    const { room } = await joined();
    server.current.cut();
    const asked = room.request('while away');
    server.answer = () => ({ code: 0, payload: encodeJSON('yes') });
    await vi.advanceTimersByTimeAsync(2000);
    await expect(asked).resolves.toBe('yes');
    expect(server.got.filter((f) => f.kind === Kind.request)).toHaveLength(1);
  });

  test('fail with gap when the session’s state was lost', async () => {
    const { room } = await joined();
    const asked = room.request('lost');
    asked.catch(() => {});
    for (let i = 0; i < 3; i++) server.send(Kind.event, event('before'));
    let gaps = 0;
    room.on('gap', () => gaps++);
    await vi.advanceTimersByTimeAsync(50);
    server.forget();
    server.current.cut();
    await vi.advanceTimersByTimeAsync(2000);
    await expect(asked).rejects.toMatchObject({ code: Code.gap });
    expect(gaps).toBe(1);
    room.relay('after');
    await vi.advanceTimersByTimeAsync(50);
    expect(text(server.got.at(-1)!.body)).toContain('after');
    server.send(Kind.event, event('after'));
    await vi.advanceTimersByTimeAsync(50);
    server.current.cut();
    await vi.advanceTimersByTimeAsync(1000);
    expect(server.hellos.at(-1)!.resume!.received).toBe(1); // both count from the gap on
  });
});

describe('resuming', () => {
  test('a link that ends without a code is replaced, with the newest secret', async () => {
    const { room, states } = await joined();
    for (const secret of ['secret-1', 'secret-2']) {
      server.current.cut();
      expect(room.state).toBe('away');
      await vi.advanceTimersByTimeAsync(1000);
      expect(room.state).toBe('synchronized');
      expect(server.hellos.at(-1)!.resume).toEqual({ secret, received: 0 });
    }
    expect(states).toEqual(['joining', 'synchronized', 'away', 'synchronized', 'away', 'synchronized']);
    expect(room.stats().resumes).toBe(2);
    expect([...room.peers.keys()]).toEqual([1]);
  });

  test('a welcome that was lost is asked for again with the same secret', async () => {
    const { room } = await joined();
    server.mute = true;
    server.current.cut();
    await vi.advanceTimersByTimeAsync(1000);
    server.links.at(-1)!.cut();
    server.mute = false;
    await vi.advanceTimersByTimeAsync(3000);
    expect(room.state).toBe('synchronized');
    expect(server.hellos.slice(1).map((h) => h.resume?.secret)).toEqual(['secret-1', 'secret-1']);
  });

  test('a terminal close ends the session, a retryable one does not', async () => {
    const { room } = await joined();
    server.send(Kind.close, encodeJSON({ code: Code.going_away, name: 'going_away', retry: true }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(room.state).toBe('synchronized');
    const closed: GatehouseError[] = [];
    room.on('closed', (e) => closed.push(e));
    server.send(Kind.close, encodeJSON({ code: Code.kicked, name: 'kicked', reason: 'be nice' }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(room.state).toBe('closed');
    expect(closed).toEqual([new GatehouseError(Code.kicked, 'be nice')]);
    expect(server.links).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a silent link is given up after the time-out', async () => {
    const { room } = await joined();
    const link = server.current;
    server.left(link); // nothing answers any more
    await vi.advanceTimersByTimeAsync(2900);
    expect(room.state).toBe('synchronized');
    await vi.advanceTimersByTimeAsync(1500);
    expect(link.closedByClient).toBe(true);
    expect(room.state).toBe('synchronized'); // over another
  });

  test('a page that was frozen listens before it gives its link up', async () => {
    const { room } = await joined();
    const link = server.current;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000); // no timer ran meanwhile
    await vi.advanceTimersByTimeAsync(900);
    expect(link.closedByClient).toBe(false);
    server.left(link);
    await vi.advanceTimersByTimeAsync(4000);
    expect(link.closedByClient).toBe(true);
    expect(room.stats().resumes).toBe(1);
  });

  describe('in a room that ticks', () => {
    beforeEach(() => void (server.welcome = { tick_rate: 30, limits: patient }));

    test('a silent link is suspicious after a second and given up after three', async () => {
      const { room } = await joined();
      const link = server.current;
      const told: boolean[] = [];
      room.on('unstable', (on) => told.push(on));
      server.left(link); // nothing answers any more
      const pings = (): number => link.sent.filter((f) => f.kind === Kind.ping).length;
      const before = pings();
      await vi.advanceTimersByTimeAsync(1500);
      expect([room.unstable, room.state, told]).toEqual([true, 'synchronized', [true]]);
      await vi.advanceTimersByTimeAsync(1700);
      expect(pings() - before).toBeGreaterThanOrEqual(4);
      expect(link.closedByClient).toBe(true);
      expect([room.unstable, told]).toEqual([false, [true, false]]);
      await vi.advanceTimersByTimeAsync(500);
      expect(room.state).toBe('synchronized'); // over another
    });

    test('a link that is heard again is stable again', async () => {
      const { room } = await joined();
      const link = server.current;
      server.left(link);
      await vi.advanceTimersByTimeAsync(2000);
      expect(room.unstable).toBe(true);
      link.inbox.message(undefined, encodeFrame(Kind.ping, empty));
      expect(room.unstable).toBe(false);
      await vi.advanceTimersByTimeAsync(900);
      expect(link.closedByClient).toBe(false);
    });

    test('silence may be borne for longer', async () => {
      const { room } = await joined({ silenceMs: 9000 });
      const link = server.current;
      server.left(link);
      await vi.advanceTimersByTimeAsync(8000);
      expect([room.unstable, link.closedByClient]).toEqual([true, false]);
      await vi.advanceTimersByTimeAsync(2500);
      expect(link.closedByClient).toBe(true);
    });

    test('a page that slept asks again before it holds the silence against the link', async () => {
      const { room } = await joined();
      const link = server.current;
      const now = performance.now.bind(performance);
      vi.spyOn(performance, 'now').mockImplementation(() => now() + 5000); // no timer ran meanwhile
      await vi.advanceTimersByTimeAsync(500);
      expect([room.unstable, link.closedByClient]).toEqual([false, false]);
      server.left(link);
      await vi.advanceTimersByTimeAsync(2000);
      expect([room.unstable, link.closedByClient]).toEqual([true, false]);
      await vi.advanceTimersByTimeAsync(1500);
      expect(link.closedByClient).toBe(true);
    });
  });

  test('says how the link ended', async () => {
    const { room } = await joined();
    const ends: unknown[] = [];
    room.on('state', ({ state, end }) => state === 'away' && ends.push(end));
    server.send(Kind.close, encodeJSON({ code: Code.going_away, name: 'going_away', reason: 'restart', retry: true }));
    await vi.advanceTimersByTimeAsync(1000);
    server.current.cut();
    expect(room.stats().rtt).toBe(0); // of no link
    expect(ends).toEqual([{ code: Code.going_away, reason: 'restart' }, { reason: 'cut' }]);
  });

  test('where neither transport works it does not blame WebRTC', async () => {
    const reasons: string[] = [];
    const { room } = await joined({ transport: 'webrtc', onFallback: (f) => reasons.push(f.reason) });
    const down = (t: 'webrtc' | 'websocket'): void => void server.refuse.set(t, new DialError(t, 'down'));
    down('webrtc');
    down('websocket');
    server.current.cut();
    await vi.advanceTimersByTimeAsync(5000);
    expect(reasons).toEqual([]);
    server.refuse.clear();
    await vi.advanceTimersByTimeAsync(5000);
    expect([room.state, room.transport]).toEqual(['synchronized', 'webrtc']);
  });

  test('when the grace is over the session is', async () => {
    const { room } = await joined();
    server.refuse.set('websocket', new DialError('websocket', 'down'));
    server.current.cut();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(room.state).toBe('away');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(room.state).toBe('closed');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('retryNow ends the pause before the next attempt', async () => {
    const { room } = await joined();
    server.refuse.set('websocket', new DialError('websocket', 'down'));
    server.current.cut();
    await vi.advanceTimersByTimeAsync(20_000);
    server.refuse.clear();
    room.retryNow();
    await vi.advanceTimersByTimeAsync(30);
    expect(room.state).toBe('synchronized');
  });

  test('200 cuts and returns lose and double nothing, in either direction', async () => {
    const { room } = await joined();
    const rnd = random(7);
    const heard: number[] = [];
    room.on('relayed', (m) => heard.push(m.data as number));
    let out = 0;
    let back = 0;
    for (let i = 0; i < 200; i++) {
      for (let n = rnd() * 6; n > 0; n--) {
        room.relay(out++);
        server.send(Kind.relayed, encodeRelayed('reliable', { sender: 2, stamp: 0, payload: encodeJSON(back++) }));
        await vi.advanceTimersByTimeAsync(rnd() * 8);
      }
      if (rnd() < 0.3 && room.state === 'synchronized') {
        await Promise.all([room.switchTransport(rnd() < 0.5 ? 'webrtc' : 'websocket').catch(() => {}), vi.advanceTimersByTimeAsync(40)]);
      } else if (server.connected) server.current.cut();
      await vi.advanceTimersByTimeAsync(rnd() * 400);
    }
    await vi.advanceTimersByTimeAsync(10_000);
    expect(room.state).toBe('synchronized');
    const sent = server.got.map((f) => Number(text(f.body.subarray(1))));
    expect(sent).toEqual(Array.from({ length: out }, (_, i) => i));
    expect(heard).toEqual(Array.from({ length: back }, (_, i) => i));
    expect(room.stats().resumes).toBeGreaterThan(100);
  });
});

describe('switching', () => {
  test('keeps the old link until the new one is welcomed', async () => {
    const { room, states } = await joined();
    const old = server.current;
    const transports: string[] = [];
    room.on('transport', (t) => transports.push(t));
    const switching = room.switchTransport('webrtc');
    await vi.advanceTimersByTimeAsync(12);
    expect(old.closedByClient).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    await switching;
    expect(old.closedByClient).toBe(true);
    expect(room.transport).toBe('webrtc');
    expect(transports).toEqual(['webrtc']);
    expect(states).toEqual(['joining', 'synchronized']); // never away
  });

  test('to what can not connect changes nothing', async () => {
    const { room } = await joined();
    server.refuse.set('webrtc', new DialError('webrtc', 'no path'));
    const switching = room.switchTransport('webrtc');
    switching.catch(() => {});
    await vi.advanceTimersByTimeAsync(100);
    await expect(switching).rejects.toMatchObject({ reason: 'no path' });
    expect(room.transport).toBe('websocket');
    expect(room.state).toBe('synchronized');
  });
});

describe('the reliable stream', () => {
  test('is acknowledged 250 ms after something came, or at once after 16 KiB', async () => {
    await joined();
    const acks = (): number => server.current.sent.filter((f) => f.kind === Kind.ack).length;
    server.send(Kind.event, event('small'));
    await vi.advanceTimersByTimeAsync(240);
    expect(acks()).toBe(0);
    await vi.advanceTimersByTimeAsync(30);
    expect(acks()).toBe(1);
    expect(server.unacknowledged).toBe(0);
    for (let i = 0; i < 2; i++) server.send(Kind.event, encodeEvent({ tick: 0, name: 'big', payload: new Uint8Array(9000) }));
    await vi.advanceTimersByTimeAsync(15);
    expect(acks()).toBe(2);
  });

  test('an acknowledgement rides on what is sent anyway', async () => {
    const { room } = await joined();
    server.send(Kind.event, event('e'));
    await vi.advanceTimersByTimeAsync(20);
    room.relay('x');
    await vi.advanceTimersByTimeAsync(20);
    expect(server.unacknowledged).toBe(0);
  });

  test('what waits is bounded', async () => {
    const { room } = await joined();
    server.refuse.set('websocket', new DialError('websocket', 'down'));
    server.current.cut();
    const payload = new Uint8Array(60_000);
    expect(() => {
      for (let i = 0; i < 20; i++) room.relay(payload);
    }).toThrow('too much waits');
    await expect(room.request('x', payload)).rejects.toMatchObject({ code: Code.slow_consumer });
  });
});

describe('leaving', () => {
  test('is told, and ends everything', async () => {
    const { room, states } = await joined();
    const leaving = room.leave();
    await vi.advanceTimersByTimeAsync(50);
    await leaving;
    expect(server.got.at(-1)!.kind).toBe(Kind.leave);
    expect(states.slice(-2)).toEqual(['leaving', 'closed']);
    expect(() => room.relay('x')).toThrow('over');
    await vi.advanceTimersByTimeAsync(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('does not wait for a server that is gone', async () => {
    const { room } = await joined();
    server.left(server.current);
    const leaving = room.leave();
    await vi.advanceTimersByTimeAsync(1100);
    await leaving;
    expect(room.state).toBe('closed');
  });
});

describe('other members', () => {
  test('come, go away and leave', async () => {
    const { room } = await joined();
    const tell = async (n: object): Promise<void> => {
      server.send(Kind.peer, encodeJSON(n));
      await vi.advanceTimersByTimeAsync(10);
    };
    await tell({ event: 'joined', id: 2, name: 'Bob', profile: { hat: 1 } });
    await tell({ event: 'away', id: 2 });
    expect(room.peers.get(2)).toEqual({ id: 2, name: 'Bob', profile: { hat: 1 }, away: true });
    await tell({ event: 'back', id: 2 });
    expect(room.peers.get(2)).toEqual({ id: 2, name: 'Bob', profile: { hat: 1 } });
    await tell({ event: 'left', id: 2, reason: 'left' });
    expect(room.peers.has(2)).toBe(false);
    await tell({ event: 'roster', peers: [{ id: 1, name: 'Ann' }, { id: 9, name: 'Eve', away: true }] });
    expect([...room.peers.keys()]).toEqual([1, 9]);
  });

  test('a fast message older than the last of its sender is dropped', async () => {
    const { room } = await joined();
    const heard: unknown[] = [];
    room.on('relayed', (m) => heard.push([m.from, m.data, m.fast]));
    for (const [sender, stamp] of [[2, 65_535], [3, 9], [2, 0], [2, 65_535], [2, 0], [3, 10]] as const) {
      server.send(Kind.relayedFast, encodeRelayed('unreliable', { sender, stamp, payload: encodeJSON(stamp) }));
    }
    await vi.advanceTimersByTimeAsync(10);
    expect(heard).toEqual([[2, 65_535, true], [3, 9, true], [2, 0, true], [3, 10, true]]);
  });

  test('a frame of an unknown kind is skipped and counted if it is numbered', async () => {
    const { room } = await joined();
    server.send(Kind.switch, Uint8Array.of(1, 2));
    server.send(31, Uint8Array.of(3));
    await vi.advanceTimersByTimeAsync(300);
    expect(server.unacknowledged).toBe(0);
    expect(room.state).toBe('synchronized');
  });
});
