import { decodeRequest, encodeAck, encodeResponse } from '../src/bodies.js';
import { encodeJSON, type Close, type Hello, type Welcome } from '../src/control.js';
import type { Dials } from '../src/dialer.js';
import { Kind, encodeFrame, frames, isNumbered, type Frame, type Lane } from '../src/frame.js';
import { DialError, Inbox, type Dial, type Link, type LinkEnd, type LinkHandler, type Transport } from '../src/link.js';
import { Counter, Ring } from '../src/stream.js';

/** Time for messages to cross, in ms of fake timers. */
const latency = 5;

/** A link in memory: what is sent arrives at the server a moment later, in order. */
class TestLink implements Link {
  readonly inbox = new Inbox();
  readonly sent: Frame[] = [];
  closedByClient = false;

  constructor(
    readonly transport: Transport,
    private readonly server: TestServer,
  ) {}

  attach(handler: LinkHandler): void {
    this.inbox.attach(handler);
  }

  send(_: Lane, message: Uint8Array): boolean {
    if (this.inbox.over) return false;
    for (const f of frames(message)) this.sent.push(f);
    setTimeout(() => this.server.receive(this, message), latency);
    return true;
  }

  close(): void {
    this.closedByClient = true;
    this.inbox.close();
    setTimeout(() => this.server.left(this), latency);
  }

  /** The connection just goes. */
  cut(end: LinkEnd = { reason: 'cut' }): void {
    this.inbox.ended(end);
    this.server.left(this);
  }
}

/**
 * A server of one session, small but true to the protocol where sessions and
 * resumes are concerned. It runs on fake timers.
 */
export class TestServer {
  /** Every link that was opened, the newest last. */
  readonly links: TestLink[] = [];
  /** Numbered frames that were received, each once. */
  readonly got: Frame[] = [];
  readonly hellos: Hello[] = [];
  /** Fails the next dials of a transport with this. */
  readonly refuse = new Map<Transport, DialError>();
  /** What is changed in the welcomes. */
  welcome: Partial<Welcome> = {};
  /** Answers hello with this instead of a welcome. */
  close: Close | undefined;
  /** Never answers a hello. */
  mute = false;
  /** Answers requests; undefined: not at all. */
  answer: ((name: string, payload: Uint8Array) => { code: number; payload: Uint8Array }) | undefined;

  private readonly ring = new Ring(1 << 20);
  private readonly counter = new Counter();
  private link: TestLink | undefined;
  private secrets = 0;

  readonly dials: Dials = { webrtc: this.dial('webrtc'), websocket: this.dial('websocket') };

  get current(): TestLink {
    if (this.link === undefined) throw new Error('the server has no link');
    return this.link;
  }

  get connected(): boolean {
    return this.link !== undefined;
  }

  /** Sends a frame, numbered or not. */
  send(kind: number, body: Uint8Array = new Uint8Array(0)): void {
    if (isNumbered(kind)) this.ring.push(kind, body);
    if (this.link !== undefined) this.deliver(this.link, encodeFrame(kind, body));
  }

  /** Frames that the server has sent and the client has not acknowledged. */
  get unacknowledged(): number {
    return this.ring.waiting;
  }

  /** Loses the state of the session: the next resume answers with a gap. */
  forget(): void {
    this.ring.clear();
    this.counter.reset();
    this.welcome = { ...this.welcome, gap: true };
  }

  receive(link: TestLink, message: Uint8Array): void {
    for (const f of frames(message)) {
      if (f.kind === Kind.hello) this.greet(link, JSON.parse(new TextDecoder().decode(f.body)) as Hello);
      else if (link !== this.link) return;
      else this.take(link, f);
    }
  }

  left(link: TestLink): void {
    if (this.link === link) this.link = undefined;
  }

  private dial(transport: Transport): Dial {
    return ({ signal }) =>
      new Promise((resolve, reject) => {
        setTimeout(() => {
          const error = this.refuse.get(transport);
          if (signal.aborted) reject(new DialError(transport, 'given up'));
          else if (error !== undefined) reject(error);
          else {
            const link = new TestLink(transport, this);
            this.links.push(link);
            resolve(link);
          }
        }, latency);
      });
  }

  private greet(link: TestLink, hello: Hello): void {
    this.hellos.push(hello);
    if (this.mute) return;
    if (this.close !== undefined) {
      this.deliver(link, encodeFrame(Kind.close, encodeJSON(this.close)));
      return;
    }
    const resumed = hello.resume !== undefined;
    const old = this.link;
    this.link = link;
    if (old !== undefined) this.deliver(old, encodeFrame(Kind.close, encodeJSON({ code: 4415, name: 'replaced' })));
    const gap = resumed && this.welcome.gap === true;
    const w: Welcome = {
      version: 1,
      session: 's-1',
      resume: { secret: `secret-${++this.secrets}`, grace_ms: 30_000 },
      resumed,
      received: this.counter.received,
      room: { name: 'room', instance: 'i-1', kind: 'relay' },
      you: 1,
      ...(resumed ? {} : { peers: [{ id: 1, name: 'Ann' }] }),
      tick: 0,
      tick_rate: 0,
      limits: { reliable_bytes: 61_440, unreliable_bytes: 1120, ping_ms: 1000, timeout_ms: 3000, messages_per_second: 120 },
      ...this.welcome,
    };
    this.deliver(link, encodeFrame(Kind.welcome, encodeJSON(w)));
    if (gap) this.welcome = { ...this.welcome, gap: false };
    const cursor = gap || !resumed ? 1 : this.ring.rewind(hello.resume!.received);
    if (cursor === undefined) throw new Error('the client counted what was never sent');
    for (const frame of this.ring.from(cursor)) this.deliver(link, frame);
  }

  private take(link: TestLink, f: Frame): void {
    if (this.counter.add(f.kind, f.body.length) || isNumbered(f.kind)) {
      this.got.push({ kind: f.kind, body: f.body.slice() });
      this.deliver(link, encodeFrame(Kind.ack, encodeAck(this.counter.acknowledge())));
    }
    if (f.kind === Kind.ack) this.ring.ack(Number(f.body[0]! & 127) + Number((f.body[1] ?? 0) << 7));
    if (f.kind === Kind.ping) this.deliver(link, encodeFrame(Kind.pong, f.body));
    if (f.kind === Kind.leave) this.deliver(link, encodeFrame(Kind.close, encodeJSON({ code: 4400, name: 'left' })));
    if (f.kind === Kind.request && this.answer !== undefined) {
      const r = decodeRequest(f.body);
      this.send(Kind.response, encodeResponse({ id: r.id, ...this.answer(r.name, r.payload) }));
    }
  }

  private deliver(link: TestLink, message: Uint8Array): void {
    setTimeout(() => link.inbox.message(undefined, message), latency);
  }
}
