import { DialError, Inbox, unreliableBacklog, type Dial, type Link, type LinkHandler } from './link.js';
import type { Lane } from './frame.js';

/** Opens a WebSocket link to `/v1/ws` of the server. */
export const dialWebSocket: Dial = ({ url, timeoutMs, signal }) =>
  new Promise<Link>((resolve, reject) => {
    const address = new URL('v1/ws', url);
    address.protocol = address.protocol.replace('http', 'ws');
    if (typeof WebSocket === 'undefined') {
      reject(new DialError('websocket', 'this browser has no WebSocket'));
      return;
    }
    const socket = new WebSocket(address, 'gatehouse.v1');
    socket.binaryType = 'arraybuffer';
    const link = new WebSocketLink(socket);

    const fail = (reason: string, code?: number): void => {
      settle();
      link.close();
      reject(new DialError('websocket', reason, code));
    };
    const timer = setTimeout(() => fail(`no connection within ${timeoutMs / 1000} s`), timeoutMs);
    const aborted = (): void => fail('given up');
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      socket.onopen = socket.onerror = null;
    };
    signal.addEventListener('abort', aborted);
    socket.onopen = () => {
      settle();
      if (socket.protocol === 'gatehouse.v1') resolve(link);
      else fail('the server does not speak gatehouse.v1');
    };
    // Browsers do not tell a page why a connection failed: it could be used to scan ports.
    socket.onerror = () => fail('the server can not be reached');
  });

class WebSocketLink implements Link {
  readonly transport = 'websocket';
  private readonly inbox = new Inbox();

  constructor(private readonly socket: WebSocket) {
    socket.onmessage = (e: MessageEvent<unknown>) => {
      if (e.data instanceof ArrayBuffer) this.inbox.message(undefined, new Uint8Array(e.data));
    };
    socket.onclose = (e) => {
      const own = e.code >= 4000 && e.code < 5000;
      this.inbox.ended(own ? { code: e.code, reason: e.reason } : { reason: e.reason || 'the connection was closed' });
    };
  }

  attach(handler: LinkHandler): void {
    this.inbox.attach(handler);
  }

  send(lane: Lane, message: Uint8Array): boolean {
    const { socket } = this;
    if (this.inbox.over || socket.readyState !== WebSocket.OPEN) return false;
    if (lane === 'unreliable' && socket.bufferedAmount > unreliableBacklog) return false;
    socket.send(message as Uint8Array<ArrayBuffer>);
    return true;
  }

  close(code = 1000, reason = ''): void {
    this.inbox.close();
    this.socket.close(code, reason.slice(0, 40));
  }
}
