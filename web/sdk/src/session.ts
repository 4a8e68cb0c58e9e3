import { Backoff } from './backoff.js';
import { decodeAck, decodeResponse, encodeAck, encodeRequest } from './bodies.js';
import { ProtocolError } from './bytes.js';
import { Code, GatehouseError, codeText, isRetryable } from './codes.js';
import { decodeClose, decodeWelcome, encodeJSON, versions, type Hello, type Welcome } from './control.js';
import type { Dialer, TransportChoice } from './dialer.js';
import { Kind, Size, encodeFrame, frames, laneOf, type Frame, type Lane } from './frame.js';
import { DialError, type Link, type LinkEnd, type Transport } from './link.js';
import { Liveness } from './liveness.js';
import { Meter } from './meter.js';
import { concat, packed } from './pack.js';
import { Requests } from './requests.js';
import { Counter, Ring, ackDelay } from './stream.js';

/** Where a session stands. `open` means that it has a link and was welcomed. */
export type Phase = 'connecting' | 'joining' | 'open' | 'away' | 'leaving' | 'closed';

/** What a session tells the room that owns it. */
export interface SessionOwner {
  /** @param end how the link ended, when the session is away */
  phase(p: Phase, end?: LinkEnd): void;
  /** The link has fallen silent, or is heard again. */
  faltered(on: boolean): void;
  /** A welcome came: of the join, or of a resume. Frames follow. */
  welcomed(w: Welcome): void;
  /** A frame that is the room's business: its body is valid during the call only. */
  frame(f: Frame): void;
  /** The session is over. Called once, last. */
  closed(e: GatehouseError): void;
}

/** Bytes that may be sent and not acknowledged: about what a minute away may gather. */
const ringBytes = 512 << 10;
const helloTimeout = 8000;
const joinAttempts = 3;

/**
 * A session outlives its links: it numbers and keeps what is sent reliably,
 * counts what is received, and, when a link ends without a terminal code, comes
 * back over another and goes on where both ends stood. docs/protocol.md §4.
 */
export class Session {
  readonly requests = new Requests();
  readonly received = new Meter(); // bytes
  readonly sent = new Meter(); // bytes

  private readonly ring = new Ring(ringBytes);
  private readonly counter = new Counter();
  private readonly backoff = new Backoff();
  private readonly abort = new AbortController();
  private current: Phase = 'connecting';
  private link: Link | undefined;
  private greeting: Greeting | undefined;
  private liveness: Liveness | undefined;
  private ackTimer: ReturnType<typeof setTimeout> | undefined;
  private hurry: (() => void) | undefined; // ends the pause before the next attempt
  private welcome: Welcome | undefined;
  private welcomes = 0;

  constructor(
    private readonly dialer: Dialer,
    private readonly hello: Hello,
    private readonly owner: SessionOwner,
    private readonly silenceMs = 3000,
  ) {}

  get phase(): Phase {
    return this.current;
  }

  get transport(): Transport | undefined {
    return this.link?.transport;
  }

  /** Whether the current link has fallen silent. */
  get unstable(): boolean {
    return this.liveness?.unstable ?? false;
  }

  /** Round trip of the current link in ms, 0 if not known. */
  get rtt(): number {
    return this.liveness?.rtt ?? 0;
  }

  /** Times the session was resumed. */
  get resumes(): number {
    return Math.max(0, this.welcomes - 1);
  }

  /** Joins; tries a few times where that may help. Rejects with a {@link GatehouseError}. */
  async join(): Promise<void> {
    for (let left = joinAttempts - 1; ; left--) {
      try {
        this.enter('connecting');
        await this.greet(await this.dialer.open(this.abort.signal), this.hello);
        return;
      } catch (e) {
        const error = asGatehouseError(e);
        if (left === 0 || !isRetryable(error.code) || this.over) {
          this.end(error);
          throw error;
        }
      }
      await this.pause(this.backoff.next());
    }
  }

  /**
   * Moves the session to another transport: the new link is opened while the old
   * one still plays. Rejects with a {@link DialError} if it can not be opened;
   * the session goes on over the old one then.
   */
  async switchTo(transport: Transport): Promise<void> {
    if (this.current !== 'open') throw new GatehouseError(Code.going_away, 'the session has no link just now');
    const link = await this.dialer.dial(transport, helloTimeout, this.abort.signal);
    if (this.current !== 'open') {
      link.close();
      throw new GatehouseError(Code.going_away, 'the link was lost meanwhile');
    }
    this.dialer.want(transport);
    const old = this.link;
    try {
      await this.greet(link, this.resumeHello());
    } catch (e) {
      const error = asGatehouseError(e);
      if (this.link === old) this.lost({ reason: error.reason, ...(isRetryable(error.code) ? {} : { code: error.code }) });
      throw error;
    }
  }

  /** What to use from the next link on. */
  want(choice: TransportChoice): void {
    this.dialer.want(choice);
  }

  /** Drops the link, as a failing network would; the session comes back by itself. */
  dropLink(): void {
    if (this.current === 'open') this.lost({ reason: 'dropped on request' });
  }

  /** Tries to come back now instead of after the pause: the network is known to be there again. */
  retryNow(): void {
    this.hurry?.();
  }

  /** Ends the session for good; resolves when the server has said so, or after a second. */
  async leave(): Promise<void> {
    if (this.over || this.current === 'leaving') return;
    const heard = this.current === 'open';
    this.enter('leaving');
    if (heard) {
      this.sendReliable(Kind.leave, new Uint8Array(0));
      await this.pause(1000);
    }
    this.end(new GatehouseError(Code.left));
  }

  /** Sends a request; rejects with the code of a refusal. */
  async request(name: string, payload: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const { id, response } = this.requests.begin(timeoutMs);
    try {
      this.sendReliable(Kind.request, encodeRequest({ id, name, payload }));
    } catch (e) {
      this.requests.fail(id, asGatehouseError(e));
    }
    return response;
  }

  /**
   * Sends a numbered frame: now, or once there is a link again. Throws if the
   * session is over, or if so much waits that the bound would be passed.
   */
  sendReliable(kind: number, body: Uint8Array): void {
    if (this.over) throw new GatehouseError(Code.left, 'the session is over');
    if (!this.ring.push(kind, body)) throw new GatehouseError(Code.slow_consumer, 'too much waits to be sent');
    if (this.link === undefined || this.greeting !== undefined) return;
    const frame = encodeFrame(kind, body);
    const ack = this.counter.owing ? this.takeAck() : undefined;
    if (ack !== undefined && ack.length + frame.length <= Size.message) this.transmit('reliable', concat([ack, frame]));
    else {
      if (ack !== undefined) this.transmit('reliable', ack);
      this.transmit('reliable', frame);
    }
  }

  /** Sends a frame that may be lost. False if it was dropped here. */
  sendUnreliable(kind: number, body: Uint8Array): boolean {
    if (this.link === undefined || this.greeting !== undefined) return false;
    return this.transmit('unreliable', encodeFrame(kind, body));
  }

  private get over(): boolean {
    return this.current === 'closed';
  }

  private enter(p: Phase, end?: LinkEnd): void {
    if (this.current === p || this.over || (this.current === 'leaving' && p !== 'closed')) return;
    this.current = p;
    this.owner.phase(p, end);
  }

  // Links ------------------------------------------------------------------

  /**
   * Says hello on a link and waits for the welcome. From here on nothing is read
   * from or written to an older link: what the server has sent there and this
   * end has not counted comes again on the new one.
   */
  private greet(link: Link, hello: Hello): Promise<void> {
    if (this.over || this.current === 'leaving') {
      link.close();
      return Promise.reject(new GatehouseError(Code.left));
    }
    if (this.current === 'connecting') this.enter('joining');
    return new Promise<void>((resolve, reject) => {
      const settle = (done: () => void): void => {
        clearTimeout(timer);
        this.greeting = undefined;
        done();
      };
      const greeting: Greeting = {
        link,
        welcomed: () => settle(resolve),
        failed: (e) => {
          link.close();
          settle(() => reject(e));
        },
      };
      const timer = setTimeout(() => greeting.failed(new GatehouseError(Code.timeout, 'no welcome came in time')), helloTimeout);
      this.greeting = greeting;
      link.attach({
        message: (lane, bytes) => this.receive(link, lane, bytes),
        ended: (end) => this.ended(link, end),
      });
      this.transmit('reliable', encodeFrame(Kind.hello, encodeJSON(hello)), link);
    });
  }

  private resumeHello(): Hello {
    return { versions, resume: { secret: this.welcome?.resume?.secret ?? '', received: this.counter.received } };
  }

  private adopt(link: Link, w: Welcome): void {
    const first = this.welcome === undefined;
    this.link?.close();
    this.link = link;
    this.welcome = w;
    this.welcomes++;
    let cursor: number | undefined = 1;
    if (w.gap || (!first && !w.resumed)) {
      this.ring.clear();
      this.counter.reset();
      this.requests.failAll(new GatehouseError(Code.gap));
    } else {
      cursor = this.ring.rewind(w.received);
      if (cursor === undefined) throw new ProtocolError(`welcome.received ${w.received} does not fit what was sent`);
    }
    this.greeting?.welcomed();
    this.backoff.reset();
    this.liveness?.stop();
    const watch = {
      ping: (body: Uint8Array) => void this.transmit('reliable', encodeFrame(Kind.ping, body)),
      unstable: (on: boolean) => this.owner.faltered(on),
      silent: (ms: number) => this.lost({ reason: `nothing was heard for ${Math.round(ms / 1000)} s` }),
    };
    this.liveness = new Liveness(w.limits, watch, w.tick_rate > 0 ? this.silenceMs : Infinity);
    // The first frame after the hello spends the secret that was presented.
    this.liveness.ping();
    this.enter('open');
    this.owner.welcomed(w);
    for (const message of packed(this.ring.from(cursor))) this.transmit('reliable', message);
  }

  private ended(link: Link, end: LinkEnd): void {
    const greeting = this.greeting;
    if (greeting?.link === link) greeting.failed(new GatehouseError(end.code ?? Code.going_away, end.reason || undefined));
    else if (link === this.link && greeting === undefined) this.lost(end);
  }

  /** The current link is gone: the session is over, or away. */
  private lost(end: LinkEnd): void {
    this.link?.close();
    this.link = undefined;
    this.liveness?.stop();
    this.liveness = undefined;
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    if (this.over) return;
    const code = end.code ?? Code.going_away;
    const grant = this.welcome?.resume;
    if (this.current === 'leaving') this.hurry?.();
    else if (!isRetryable(code) || grant === undefined) this.end(new GatehouseError(code, end.reason || codeText(code)));
    else if (this.current !== 'away') {
      this.enter('away', end);
      void this.comeBack(performance.now() + grant.grace_ms + (this.welcome?.limits.timeout_ms ?? 0));
    }
  }

  /** Tries to resume until it works, is refused for good, or the server must have let go. */
  private async comeBack(deadline: number): Promise<void> {
    this.backoff.reset();
    while (this.current === 'away' && performance.now() < deadline) {
      await this.pause(this.backoff.next());
      if (this.current !== 'away') return;
      try {
        const link = await this.dialer.open(this.abort.signal);
        if (this.current !== 'away') {
          link.close();
          return;
        }
        await this.greet(link, this.resumeHello());
        return;
      } catch (e) {
        const error = asGatehouseError(e);
        if (!isRetryable(error.code)) return this.end(error);
      }
    }
    if (this.current === 'away') this.end(new GatehouseError(Code.session_expired));
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.hurry = undefined;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.hurry = done;
    });
  }

  private end(e: GatehouseError): void {
    if (this.over) return;
    this.link?.close();
    this.link = undefined;
    this.liveness?.stop();
    this.liveness = undefined;
    clearTimeout(this.ackTimer);
    this.enter('closed');
    this.abort.abort();
    this.greeting?.failed(e);
    this.hurry?.();
    this.requests.failAll(e);
    this.owner.closed(e);
  }

  // Frames -----------------------------------------------------------------

  private receive(link: Link, lane: Lane | undefined, bytes: Uint8Array): void {
    this.received.add(bytes.length);
    try {
      for (const f of frames(bytes)) {
        const greeting = this.greeting?.link === link;
        if (!greeting && (link !== this.link || this.greeting !== undefined)) return; // an older link
        if (lane !== undefined && laneOf(f.kind) !== lane) throw new ProtocolError(`frame of kind ${f.kind} on the ${lane} lane`);
        if (greeting) this.takeGreeting(link, f);
        else this.take(link, f);
      }
    } catch (e) {
      if (!(e instanceof ProtocolError)) throw e;
      const broken = new GatehouseError(Code.protocol, `the server broke the protocol: ${e.message}`);
      this.greeting?.failed(broken);
      this.end(broken);
    }
  }

  private takeGreeting(link: Link, f: Frame): void {
    if (f.kind === Kind.welcome) this.adopt(link, decodeWelcome(f.body));
    else if (f.kind === Kind.close) {
      const c = decodeClose(f.body);
      this.greeting?.failed(new GatehouseError(c.code, c.reason));
    } else if (laneOf(f.kind) === 'reliable') throw new ProtocolError(`frame of kind ${f.kind} before the welcome`);
    // The lanes of WebRTC are not ordered among each other: a snapshot may
    // overtake the welcome, and may be dropped.
  }

  private take(link: Link, f: Frame): void {
    this.liveness?.heard();
    if (this.counter.add(f.kind, f.body.length)) this.transmit('reliable', this.takeAck());
    else if (this.counter.owing) this.ackTimer ??= setTimeout(() => this.ackLate(), ackDelay);
    switch (f.kind) {
      case Kind.ack:
        if (!this.ring.ack(decodeAck(f.body))) throw new ProtocolError('ack of a frame that was never sent');
        return;
      case Kind.ping:
        this.transmit('reliable', encodeFrame(Kind.pong, f.body));
        return;
      case Kind.pong:
        this.liveness?.pong(f.body);
        return;
      case Kind.close: {
        const c = decodeClose(f.body);
        link.close();
        this.lost({ code: c.code, reason: c.reason ?? '' });
        return;
      }
      case Kind.response:
        this.requests.end(copyPayload(decodeResponse(f.body)));
        return;
      case Kind.hello:
      case Kind.welcome:
        throw new ProtocolError(`frame of kind ${f.kind} in the middle of a session`);
      default:
        this.owner.frame(f);
    }
  }

  private ackLate(): void {
    this.ackTimer = undefined;
    if (this.counter.owing && this.link !== undefined && this.greeting === undefined) {
      this.transmit('reliable', this.takeAck());
    }
  }

  private takeAck(): Uint8Array {
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    return encodeFrame(Kind.ack, encodeAck(this.counter.acknowledge()));
  }

  private transmit(lane: Lane, message: Uint8Array, link = this.link): boolean {
    if (!link?.send(lane, message)) return false;
    this.sent.add(message.length);
    return true;
  }
}

/** A hello that waits for its welcome. */
interface Greeting {
  readonly link: Link;
  welcomed(): void;
  failed(e: GatehouseError): void;
}

function asGatehouseError(e: unknown): GatehouseError {
  if (e instanceof GatehouseError) return e;
  if (e instanceof DialError) return new GatehouseError(e.code ?? Code.going_away, e.reason);
  return new GatehouseError(Code.internal, e instanceof Error ? e.message : String(e));
}

function copyPayload<T extends { payload: Uint8Array }>(m: T): T {
  return { ...m, payload: m.payload.slice() };
}
