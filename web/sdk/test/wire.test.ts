import { describe, expect, test } from 'vitest';
import * as bodies from '../src/bodies.js';
import { ProtocolError } from '../src/bytes.js';
import { Code, codeName, codeText, isRetryable } from '../src/codes.js';
import * as control from '../src/control.js';
import { Kind, encodeFrame, frames, isNumbered, laneOf, type Lane } from '../src/frame.js';
import { fromHex, mangled, shared, toHex } from './bytes.js';

interface Vector {
  name: string;
  kind: string;
  lane: Lane;
  numbered: boolean;
  body: Record<string, unknown>;
  frame: string;
}

const vectors = shared<Vector[]>('wire/testdata/vectors.json');
const camel = (s: string): string => s.replace(/_(.)/g, (_, c: string) => c.toUpperCase());
const kindOf = (v: Vector): number => Kind[camel(v.kind) as keyof typeof Kind];
const bytesOf = (v: unknown): Uint8Array => fromHex(v as string);

/** Encodes the body of a vector with the SDK; undefined for kinds that only servers write as JSON. */
function encode(v: Vector): Uint8Array | undefined {
  const b = v.body as Record<string, any>;
  switch (v.kind) {
    case 'ack':
      return Number.isSafeInteger(Number(b.received)) ? bodies.encodeAck(Number(b.received)) : undefined;
    case 'request':
      return bodies.encodeRequest({ id: b.id, name: b.name, payload: bytesOf(b.payload) });
    case 'response':
      return bodies.encodeResponse({ id: b.id, code: b.code, payload: bytesOf(b.payload) });
    case 'event':
      return bodies.encodeEvent({ tick: b.tick, name: b.name, payload: bytesOf(b.payload) });
    case 'relay':
    case 'relay_fast':
      return bodies.encodeRelay(v.lane, { to: b.to, payload: bytesOf(b.payload) });
    case 'relayed':
    case 'relayed_fast':
      return bodies.encodeRelayed(v.lane, { sender: b.sender, stamp: b.stamp, payload: bytesOf(b.payload) });
    case 'input':
      return bodies.encodeInput({
        seq: b.seq,
        clientTick: b.client_tick,
        acked: b.acked,
        missed: ~BigInt(`0x${b.mask as string}`) & ((1n << 64n) - 1n),
        inputs: (b.inputs as string[]).map(fromHex),
      });
    case 'hello':
    case 'welcome':
    case 'close':
    case 'peer':
    case 'draining':
      return undefined;
    default:
      return bytesOf(b.payload ?? '');
  }
}

/** Decodes a body with the SDK into the words of the vector. */
function decode(kind: string, lane: Lane, body: Uint8Array): unknown {
  switch (kind) {
    case 'ack':
      return { received: bodies.decodeAck(body) };
    case 'request':
      return hexed(bodies.decodeRequest(body));
    case 'response':
      return hexed(bodies.decodeResponse(body));
    case 'event':
      return hexed(bodies.decodeEvent(body));
    case 'relay':
    case 'relay_fast':
      return hexed(bodies.decodeRelay(body));
    case 'relayed':
    case 'relayed_fast':
      return hexed(bodies.decodeRelayed(lane, body));
    case 'input': {
      const i = bodies.decodeInput(body);
      const mask = (~i.missed & ((1n << 64n) - 1n)).toString(16).padStart(16, '0');
      return { seq: i.seq, client_tick: i.clientTick, acked: i.acked, mask, inputs: i.inputs.map(toHex) };
    }
    case 'welcome':
      return control.decodeWelcome(body);
    case 'close':
      return control.decodeClose(body);
    case 'peer':
      return control.decodePeer(body);
    case 'draining':
      return { deadline_ms: control.decodeDraining(body) };
    case 'hello':
      return JSON.parse(new TextDecoder().decode(body));
    default:
      return { payload: toHex(body) };
  }
}

function hexed<T extends { payload: Uint8Array }>(m: T): unknown {
  return { ...m, payload: toHex(m.payload) };
}

describe('frames', () => {
  test('there are vectors of every kind in use', () => {
    const reserved = ['signal', 'switch'];
    const named = Object.keys(Kind).filter((k) => !reserved.includes(k));
    expect([...new Set(vectors.map((v) => camel(v.kind)))].sort()).toEqual(named.sort());
  });

  test.each(vectors)('golden vector: $name', (v) => {
    const [frame, ...more] = [...frames(fromHex(v.frame))];
    expect(more).toEqual([]);
    expect(frame!.kind).toBe(kindOf(v));
    expect(laneOf(frame!.kind)).toBe(v.lane);
    expect(isNumbered(frame!.kind)).toBe(v.numbered);
    expect(toHex(encodeFrame(frame!.kind, frame!.body))).toBe(v.frame);
    const body = encode(v);
    if (body !== undefined) expect(toHex(body)).toBe(toHex(frame!.body));
    const want = v.kind === 'ack' ? { received: Number(v.body.received) } : v.body;
    expect(decode(v.kind, v.lane, frame!.body)).toMatchObject(want);
  });

  test('frames stand back to back in a message', () => {
    const message = fromHex(vectors.map((v) => v.frame).join(''));
    expect([...frames(message)].map((f) => f.kind)).toEqual(vectors.map(kindOf));
  });

  test('what is cut, flipped or made up is refused or read, and never breaks out', () => {
    let refused = 0;
    for (const v of vectors.filter((v) => v.frame.length < 600)) {
      for (const message of mangled(fromHex(v.frame))) {
        try {
          for (const f of frames(message)) {
            const kind = vectors.find((w) => kindOf(w) === f.kind)?.kind;
            if (kind !== undefined && kind !== 'hello') decode(kind, laneOf(f.kind), f.body);
          }
        } catch (e) {
          expect(e).toBeInstanceOf(ProtocolError);
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(1000);
  });

  test('bounds are kept when writing', () => {
    const payload = new Uint8Array(61_441);
    expect(() => bodies.encodeRequest({ id: 1, name: 'a', payload })).toThrow('the limit is 61440');
    expect(() => bodies.encodeRequest({ id: 1, name: '', payload: new Uint8Array(0) })).toThrow('1 to 64 bytes');
    expect(() => bodies.encodeRelay('unreliable', { to: [], payload })).toThrow('the limit is 1120');
    expect(() => bodies.encodeRelay('reliable', { to: Array(65).fill(1), payload: new Uint8Array(0) })).toThrow('at most 64');
  });

  test('newer16 is right around the wrap', () => {
    expect(bodies.newer16(0, 65535)).toBe(true);
    expect(bodies.newer16(65535, 0)).toBe(false);
    expect(bodies.newer16(5, 5)).toBe(false);
    expect(bodies.newer16(32768, 0)).toBe(false);
    expect(bodies.newer16(32767, 0)).toBe(true);
  });
});

describe('codes', () => {
  const table = shared<{ code: number; name: string; retry: boolean; text: string }[]>('wire/testdata/codes.json');

  test.each(table)('$code is $name', ({ code, name, retry, text }) => {
    expect(codeName(code)).toBe(name);
    expect(isRetryable(code)).toBe(retry);
    expect(codeText(code)).toBe(text);
  });

  test('the SDK knows exactly those', () => {
    expect(Object.values(Code).sort()).toEqual(table.map((c) => c.code).sort());
  });
});
