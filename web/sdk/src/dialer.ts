import { isRetryable } from './codes.js';
import { DialError, type Dial, type Link, type Transport } from './link.js';

/** How to reach the server. Both `webrtc` and `auto` fall back to WebSocket; `auto` is less patient. */
export type TransportChoice = Transport | 'auto';

/** Why the page plays over WebSocket although WebRTC was wanted. */
export interface Fallback {
  readonly transport: 'webrtc';
  readonly reason: string;
}

/** The dials of each transport; tests put in their own. */
export type Dials = Record<Transport, Dial>;

const patience: Record<TransportChoice, number> = { webrtc: 8000, auto: 4000, websocket: 8000 };

/** Opens links over the transport that is wanted, or, where that can not connect, over the other. */
export class Dialer {
  private broken = false;

  constructor(
    private readonly dials: Dials,
    private readonly url: string,
    private readonly token: string | undefined,
    private choice: TransportChoice,
    private readonly onFallback: (f: Fallback) => void,
  ) {}

  /** What to open from now on. */
  want(choice: TransportChoice): void {
    this.choice = choice;
    this.broken = false;
  }

  /**
   * Opens a link. A refusal with a terminal code is not retried over the other
   * transport: it would refuse too. Once WebRTC has failed where WebSocket works it
   * is not tried again until {@link want}, so that returns are quick; where
   * neither works nothing is known about WebRTC.
   */
  async open(signal: AbortSignal): Promise<Link> {
    let failed: DialError | undefined;
    if (this.choice !== 'websocket' && !this.broken) {
      try {
        return await this.dial('webrtc', patience[this.choice], signal);
      } catch (e) {
        if (!(e instanceof DialError) || signal.aborted) throw e;
        if (e.code !== undefined && !isRetryable(e.code)) throw e;
        failed = e;
      }
    }
    const link = await this.dial('websocket', patience.websocket, signal);
    if (failed !== undefined) {
      this.broken = true;
      this.onFallback({ transport: 'webrtc', reason: failed.reason });
    }
    return link;
  }

  /** Opens a link over that transport only. */
  dial(transport: Transport, timeoutMs: number, signal: AbortSignal): Promise<Link> {
    return this.dials[transport]({ url: this.url, token: this.token, timeoutMs, signal });
  }
}
