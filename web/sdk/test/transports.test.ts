import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DialOptions, LinkEnd } from '../src/link.js';
import { dialWebRTC } from '../src/webrtc.js';
import { dialWebSocket } from '../src/websocket.js';

const options = (more: Partial<DialOptions> = {}): DialOptions => ({
  url: 'https://play.example/games/',
  timeoutMs: 1000,
  signal: new AbortController().signal,
  ...more,
});

/** The browser's WebSocket, as far as the link uses it. */
class FakeSocket {
  static readonly OPEN = 1;
  static last: FakeSocket;
  binaryType = '';
  protocol = 'gatehouse.v1';
  readyState = 0;
  bufferedAmount = 0;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  onmessage: ((e: { data: unknown }) => void) | null = null;
  onclose: ((e: { code: number; reason: string }) => void) | null = null;
  readonly sent: Uint8Array[] = [];
  closed: number | undefined;

  constructor(
    readonly url: URL,
    readonly asked: string,
  ) {
    FakeSocket.last = this;
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  send(b: Uint8Array): void {
    this.sent.push(b);
  }

  close(code: number): void {
    this.closed = code;
  }
}

class FakeChannel extends EventTarget {
  binaryType = '';
  readyState = 'connecting';
  bufferedAmount = 0;
  onmessage: ((e: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly sent: Uint8Array[] = [];

  constructor(
    readonly label: string,
    readonly init: RTCDataChannelInit,
  ) {
    super();
  }

  open(): void {
    this.readyState = 'open';
    this.dispatchEvent(new Event('open'));
  }

  send(b: Uint8Array): void {
    this.sent.push(b);
  }
}

/** The browser's RTCPeerConnection, as far as the link uses it. */
class FakePeer extends EventTarget {
  static last: FakePeer;
  connectionState = 'new';
  localDescription: { sdp: string } | null = null;
  answer = '';
  readonly channels: FakeChannel[] = [];

  constructor() {
    super();
    FakePeer.last = this;
  }

  createDataChannel(label: string, init: RTCDataChannelInit): FakeChannel {
    const c = new FakeChannel(label, init);
    this.channels.push(c);
    return c;
  }

  createOffer(): Promise<{ sdp: string }> {
    return Promise.resolve({ sdp: 'offer' });
  }

  setLocalDescription(d: { sdp: string }): Promise<void> {
    this.localDescription = d;
    return Promise.resolve();
  }

  setRemoteDescription(d: { sdp: string }): Promise<void> {
    this.answer = d.sdp;
    return Promise.resolve();
  }

  become(state: string): void {
    this.connectionState = state;
    this.dispatchEvent(new Event('connectionstatechange'));
  }

  close(): void {
    this.connectionState = 'closed';
  }
}

const requests: { url: string; init: RequestInit }[] = [];
let answer: () => Promise<Response>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.stubGlobal('RTCPeerConnection', FakePeer);
  requests.length = 0;
  answer = () => Promise.resolve(new Response('answer', { status: 201, headers: { Location: '/v1/rtc/7' } }));
  vi.stubGlobal('fetch', (url: URL, init: RequestInit) => {
    requests.push({ url: url.href, init });
    return answer();
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('WebSocket', () => {
  test('connects beside the page with the subprotocol, and hands over what came early', async () => {
    const dialing = dialWebSocket(options());
    expect(FakeSocket.last.url.href).toBe('wss://play.example/games/v1/ws');
    expect(FakeSocket.last.asked).toBe('gatehouse.v1');
    FakeSocket.last.open();
    const link = await dialing;
    FakeSocket.last.onmessage!({ data: Uint8Array.of(1, 2).buffer });
    const heard: unknown[] = [];
    link.attach({ message: (lane, b) => heard.push([lane, [...b]]), ended: (e: LinkEnd) => heard.push(e) });
    FakeSocket.last.onclose!({ code: 4001, reason: 'too slow' });
    FakeSocket.last.onclose!({ code: 4001, reason: 'again' });
    expect(heard).toEqual([[undefined, [1, 2]], { code: 4001, reason: 'too slow' }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a code of the browser’s own is no code of ours', async () => {
    const dialing = dialWebSocket(options());
    FakeSocket.last.open();
    const ends: LinkEnd[] = [];
    (await dialing).attach({ message: () => {}, ended: (e) => ends.push(e) });
    FakeSocket.last.onclose!({ code: 1006, reason: '' });
    expect(ends).toEqual([{ reason: 'the connection was closed' }]);
  });

  test('the unreliable lane drops while much waits to be sent', async () => {
    const dialing = dialWebSocket(options());
    FakeSocket.last.open();
    const link = await dialing;
    FakeSocket.last.bufferedAmount = 20_000;
    expect(link.send('unreliable', Uint8Array.of(1))).toBe(false);
    expect(link.send('reliable', Uint8Array.of(1))).toBe(true);
    link.close();
    expect(link.send('reliable', Uint8Array.of(1))).toBe(false);
    expect(FakeSocket.last.closed).toBe(1000);
  });

  test.each([
    ['can not be reached', () => FakeSocket.last.onerror!()],
    ['does not speak gatehouse.v1', () => ((FakeSocket.last.protocol = ''), FakeSocket.last.open())],
    ['no connection within 1 s', () => vi.advanceTimersByTime(1000)],
  ])('where it can not connect it says why: %s', async (words, happen) => {
    const dialing = dialWebSocket(options());
    happen();
    await expect(dialing).rejects.toThrow(words);
    expect(FakeSocket.last.closed).toBe(1000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('WebRTC', () => {
  test('posts the offer at once, with negotiated channels, and opens when both are open', async () => {
    const dialing = dialWebRTC(options({ token: 't' }));
    await vi.advanceTimersByTimeAsync(0);
    expect(requests).toHaveLength(1);
    expect(requests[0]!.url).toBe('https://play.example/games/v1/rtc');
    expect(requests[0]!.init).toMatchObject({
      method: 'POST',
      body: 'offer',
      headers: { 'Content-Type': 'application/sdp', Authorization: 'Bearer t' },
    });
    const peer = FakePeer.last;
    expect(peer.channels.map((c) => [c.label, c.init])).toEqual([
      ['reliable', { negotiated: true, id: 0, ordered: true }],
      ['unreliable', { negotiated: true, id: 1, ordered: false, maxRetransmits: 0 }],
    ]);
    expect(peer.answer).toBe('answer');
    peer.channels[0]!.open();
    peer.channels[1]!.open();
    const link = await dialing;
    const heard: unknown[] = [];
    link.attach({ message: (lane, b) => heard.push([lane, [...b]]), ended: (e) => heard.push(e.reason) });
    peer.channels[1]!.onmessage!({ data: Uint8Array.of(9).buffer });
    link.send('unreliable', Uint8Array.of(5));
    expect(peer.channels[1]!.sent).toEqual([Uint8Array.of(5)]);
    peer.become('failed');
    expect(heard).toEqual([['unreliable', [9]], 'the connection was lost']);
    link.close();
    await vi.advanceTimersByTimeAsync(1000);
    expect(peer.connectionState).toBe('closed');
    expect(requests).toHaveLength(1); // what was connected ends by itself
  });

  test('without WebRTC in the browser it says so', async () => {
    vi.stubGlobal('RTCPeerConnection', undefined);
    await expect(dialWebRTC(options())).rejects.toThrow('this browser has no WebRTC');
  });

  const problem = (status: number, body: object): (() => Promise<Response>) => () =>
    Promise.resolve(new Response(JSON.stringify(body), { status }));

  test.each([
    ['the server refused the offer: no room for more', problem(503, { detail: 'no room for more', code: 4004 }), 4004],
    ['a token is needed', problem(401, { detail: 'a token is needed', code: 4406 }), 4406],
    ['the server refused the offer: status 500', () => Promise.resolve(new Response('oops', { status: 500 })), undefined],
    ['the server does not offer WebRTC', () => Promise.resolve(new Response('', { status: 404 })), undefined],
    ['the server can not be reached', () => Promise.reject(new TypeError('network')), undefined],
  ])('where it is refused it says why: %s', async (words, answers, code) => {
    answer = answers;
    const dialing = dialWebRTC(options());
    dialing.catch(() => {});
    await vi.advanceTimersByTimeAsync(10);
    await expect(dialing).rejects.toMatchObject({ reason: words, code });
    await vi.advanceTimersByTimeAsync(10);
    expect(FakePeer.last.connectionState).toBe('closed');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('where no path opens it says why in time, and takes its offer back', async () => {
    const dialing = dialWebRTC(options());
    dialing.catch(() => {});
    await vi.advanceTimersByTimeAsync(1000);
    await expect(dialing).rejects.toThrow('a firewall may block UDP and TCP');
    expect(requests.map((r) => [r.init.method, r.url])).toEqual([
      ['POST', 'https://play.example/games/v1/rtc'],
      ['DELETE', 'https://play.example/v1/rtc/7'],
    ]);
  });

  test('where ICE fails it says so at once', async () => {
    const dialing = dialWebRTC(options());
    dialing.catch(() => {});
    await vi.advanceTimersByTimeAsync(10);
    FakePeer.last.become('failed');
    await vi.advanceTimersByTimeAsync(10);
    await expect(dialing).rejects.toThrow('ICE failed');
  });

  test('can be given up', async () => {
    const abort = new AbortController();
    const dialing = dialWebRTC(options({ signal: abort.signal }));
    dialing.catch(() => {});
    await vi.advanceTimersByTimeAsync(10);
    abort.abort();
    await expect(dialing).rejects.toThrow('given up');
  });
});
