import type { Lane } from './frame.js';

/** A way to reach a server from a browser. */
export type Transport = 'webrtc' | 'websocket';

/** Why a link ended; without a code when the connection just went. */
export interface LinkEnd {
  readonly code?: number;
  readonly reason: string;
}

/** Takes what a link has to say. Called from the browser's events, never from within {@link Link.send}. */
export interface LinkHandler {
  /**
   * One link message; the bytes are the handler's. The lane is undefined on a
   * transport with one stream for both, where the kind of each frame says it.
   */
  message(lane: Lane | undefined, bytes: Uint8Array): void;
  /** Called once; no message follows. Not called after {@link Link.close}. */
  ended(end: LinkEnd): void;
}

/** One live connection: bytes on two lanes, nothing else. */
export interface Link {
  readonly transport: Transport;
  /** Begins to hand over messages, those that came before included. */
  attach(handler: LinkHandler): void;
  /**
   * Sends a link message. False if it was dropped: the link has ended, or, on
   * the unreliable lane, too much is waiting in the browser already.
   */
  send(lane: Lane, message: Uint8Array): boolean;
  /** Ends the link. The handler hears nothing more. */
  close(code?: number, reason?: string): void;
}

/** Where to connect to, and for how long to try. */
export interface DialOptions {
  /** Base address of the server, http: or https:. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Opens a link, or rejects with a {@link DialError}. */
export type Dial = (options: DialOptions) => Promise<Link>;

/** Why a link could not be opened, in words for a person. */
export class DialError extends Error {
  override name = 'DialError';

  /** @param code the server's, if it answered and refused */
  constructor(
    readonly transport: Transport,
    readonly reason: string,
    readonly code?: number,
  ) {
    super(`${transport}: ${reason}`);
  }
}

/** Above this many bytes waiting in the browser, the unreliable lane drops: what waits is stale by then. */
export const unreliableBacklog = 16 << 10;

/** Holds what arrives before a handler is attached, and passes on everything after. */
export class Inbox {
  private handler: LinkHandler | undefined;
  private early: [Lane | undefined, Uint8Array][] = [];
  private end: LinkEnd | undefined;
  private closed = false;

  get over(): boolean {
    return this.closed || this.end !== undefined;
  }

  attach(handler: LinkHandler): void {
    this.handler = handler;
    const early = this.early;
    this.early = [];
    for (const [lane, bytes] of early) if (!this.closed) handler.message(lane, bytes);
    if (this.end !== undefined && !this.closed) handler.ended(this.end);
  }

  message(lane: Lane | undefined, bytes: Uint8Array): void {
    if (this.over) return;
    if (this.handler === undefined) this.early.push([lane, bytes]);
    else this.handler.message(lane, bytes);
  }

  ended(end: LinkEnd): void {
    if (this.over) return;
    this.end = end;
    this.handler?.ended(end);
  }

  /** Nothing is passed on any more. */
  close(): void {
    this.closed = true;
    this.early = [];
  }
}
