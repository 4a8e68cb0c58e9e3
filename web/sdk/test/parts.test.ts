import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Backoff } from '../src/backoff.js';
import { Emitter } from '../src/events.js';
import { Hold } from '../src/hold.js';
import { InputSender } from '../src/input.js';
import { Meter } from '../src/meter.js';
import { GameEvent, encodePayload, payloadData } from '../src/payload.js';
import { Counter, Ring } from '../src/stream.js';
import { Kind } from '../src/frame.js';

const payload = (...b: number[]): Uint8Array => Uint8Array.from(b);
const acked = { tick: 7, missed: 0n };

describe('inputs', () => {
  test('are repeated until a snapshot names them as applied', () => {
    const s = new InputSender();
    expect(s.push(payload(1))).toBe(1);
    expect(s.push(payload(2))).toBe(2);
    expect(s.batch(9, acked)).toEqual({ seq: 2, clientTick: 9, acked: 7, missed: 0n, inputs: [payload(1), payload(2)] });
    s.applied(1);
    expect(s.batch(9, acked).inputs).toEqual([payload(2)]);
    s.applied(1); // again
    s.applied(2);
    expect(s.batch(9, acked)).toMatchObject({ seq: 2, inputs: [] });
  });

  test('are refused, not lost, when a frame is full of those under way', () => {
    const s = new InputSender();
    for (let i = 1; i <= 32; i++) expect(s.push(payload(i))).toBe(i);
    expect(s.push(payload(33))).toBeUndefined();
    s.applied(1);
    expect(s.push(payload(33))).toBe(33);
  });

  test('fit a datagram whatever their size', () => {
    const s = new InputSender();
    let taken = 0;
    while (s.push(new Uint8Array(255)) !== undefined) taken++;
    expect(taken).toBe(4);
    expect(() => s.push(new Uint8Array(256))).toThrow('the limit is 255');
  });

  test('their numbers wrap', () => {
    const s = new InputSender();
    for (let i = 0; i < 65_530; i++) s.applied(s.push(payload(0)) as number);
    const last = [1, 2, 3, 4, 5, 6, 7].map((i) => s.push(payload(i)));
    expect(last.slice(-3)).toEqual([65_535, 0, 1]);
    s.applied(65_535);
    expect(s.batch(0, acked)).toMatchObject({ seq: 1, inputs: [payload(6), payload(7)] });
  });

  test('an acknowledgement is due every fourth snapshot without an input, and at once after a full one', () => {
    const s = new InputSender();
    expect([1, 2, 3, 4].map(() => s.snapshot(false))).toEqual([false, false, false, true]);
    s.batch(0, acked);
    expect(s.snapshot(false)).toBe(false);
    expect(s.snapshot(true)).toBe(true);
  });
});

describe('held events', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const event = (tick: number): GameEvent => new GameEvent(tick, `e${tick}`, payload());

  test('wait for their tick, and keep their order', () => {
    const heard: number[] = [];
    const hold = new Hold<GameEvent>((e) => heard.push(e.tick));
    hold.reached(5);
    hold.add(event(5));
    expect(heard).toEqual([5]);
    hold.add(event(7));
    hold.add(event(6));
    hold.reached(6);
    expect(heard).toEqual([5]);
    hold.reached(8);
    expect(heard).toEqual([5, 7, 6]);
  });

  test('are released after 250 ms at the latest', () => {
    const heard: number[] = [];
    const hold = new Hold<GameEvent>((e) => heard.push(e.tick));
    hold.add(event(9));
    vi.advanceTimersByTime(100);
    hold.add(event(10));
    vi.advanceTimersByTime(149);
    expect(heard).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(heard).toEqual([9]);
    vi.advanceTimersByTime(100);
    expect(heard).toEqual([9, 10]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the ring', () => {
  test('keeps what is not acknowledged and rewinds to it', () => {
    const ring = new Ring(10_000);
    for (let i = 1; i <= 5; i++) ring.push(Kind.relay, payload(i));
    expect(ring.ack(2)).toBe(true);
    expect(ring.ack(1)).toBe(true); // an old one
    expect(ring.ack(6)).toBe(false); // never sent
    expect(ring.from(1).map((f) => f[2])).toEqual([3, 4, 5]);
    expect(ring.rewind(3)).toBe(4);
    expect(ring.from(4).map((f) => f[2])).toEqual([4, 5]);
    expect(ring.rewind(1)).toBeUndefined(); // forgotten
    expect(ring.rewind(9)).toBeUndefined();
    expect(ring.sent).toBe(5);
  });

  test('is bounded in bytes', () => {
    const ring = new Ring(300);
    expect(ring.push(Kind.relay, new Uint8Array(100))).toBe(true);
    expect(ring.push(Kind.relay, new Uint8Array(100))).toBe(false);
    ring.ack(1);
    expect(ring.push(Kind.relay, new Uint8Array(100))).toBe(true);
    ring.clear();
    expect(ring.sent).toBe(0);
  });
});

test('the counter counts numbered kinds only', () => {
  const c = new Counter();
  c.add(Kind.ping, 0);
  c.add(Kind.snapshot, 100);
  expect([c.received, c.owing]).toEqual([0, false]);
  expect(c.add(Kind.event, 10)).toBe(false);
  expect(c.add(31 - 12, 0)).toBe(false); // 19: a kind without a use still counts
  expect([c.received, c.owing]).toEqual([2, true]);
  expect(c.acknowledge()).toBe(2);
  expect(c.add(Kind.full, 16_384)).toBe(true);
});

test('back-off doubles up to its most, cut by a random part', () => {
  const whole = new Backoff(100, 1000, () => 0);
  expect([1, 2, 3, 4, 5, 6].map(() => whole.next())).toEqual([100, 200, 400, 800, 1000, 1000]);
  whole.reset();
  expect(whole.next()).toBe(100);
  expect(new Backoff(100, 1000, () => 0.999).next()).toBeCloseTo(50, 0);
});

test('a listener that throws does not keep the others from hearing', () => {
  const thrown: (() => void)[] = [];
  vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((fn) => void thrown.push(fn));
  const emitter = new Emitter<{ e: number }>();
  const heard: number[] = [];
  emitter.on('e', () => {
    throw new Error('mine');
  });
  const off = emitter.on('e', (v) => heard.push(v));
  emitter.once('e', (v) => heard.push(-v));
  emitter.emit('e', 1);
  emitter.emit('e', 2);
  off();
  emitter.emit('e', 3);
  expect(heard).toEqual([1, -1, 2]);
  expect(thrown).toHaveLength(3);
  expect(thrown[0]).toThrow('mine');
});

test('payloads are JSON, bytes or nothing', () => {
  for (const v of [{ a: 1 }, [1], 'text', 0, false, null]) expect(payloadData(encodePayload(v))).toEqual(v);
  expect(payloadData(encodePayload(undefined))).toBeUndefined();
  const raw = payload(0xff, 0xfe);
  expect(payloadData(encodePayload(raw))).toEqual(raw);
});

test('a meter tells the rate of the last second', () => {
  vi.useFakeTimers();
  try {
    const m = new Meter();
    for (let i = 0; i < 40; i++) {
      m.add(10);
      vi.advanceTimersByTime(50);
    }
    expect(m.total).toBe(400);
    expect(m.rate()).toBeGreaterThan(180);
    expect(m.rate()).toBeLessThan(220);
    vi.advanceTimersByTime(3000);
    expect(m.rate()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
