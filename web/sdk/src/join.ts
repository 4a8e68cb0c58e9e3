import { versions, type Hello } from './control.js';
import { Dialer, type Dials, type Fallback, type TransportChoice } from './dialer.js';
import type { GatehouseError } from './codes.js';
import { Room } from './room.js';
import { Session } from './session.js';
import { dialWebRTC } from './webrtc.js';
import { dialWebSocket } from './websocket.js';

/** What {@link join} needs. */
export interface JoinOptions {
  /** Base address of the server. Default: where the page came from. */
  url?: string;
  /** The room's name. */
  room: string;
  /** Default `auto`: WebRTC, and WebSocket where that can not connect soon. */
  transport?: TransportChoice;
  /** The join token, where the server asks for one. */
  token?: string;
  /** Who one is; counts only on a server that asks for no token. */
  identity?: string;
  /** Shown to other members. */
  name?: string;
  /** Handed to the game and to other members; at most 4 KiB of JSON. */
  profile?: unknown;
  /** Called with the room before anything is sent, to listen from the first event on. */
  onRoom?: (room: Room) => void;
  /** Called when WebRTC could not connect and WebSocket could, with the reason, also during the join. */
  onFallback?: (f: Fallback) => void;
  /**
   * In a room that ticks, a connection on which nothing was heard for so long, and
   * three pings went unanswered, is taken for lost; in ms, default 3000. The
   * server's `limits.timeout_ms` holds in every room.
   */
  silenceMs?: number;
  /** How links are opened, for tests. */
  dials?: Dials;
}

/**
 * Joins a room. Resolves when it is synchronized: welcomed and, in a room with a
 * simulation, with its whole world here. Rejects with a {@link GatehouseError}.
 *
 *     const room = await join({ room: 'arena', name: 'Ann' });
 *     room.on('spawn', (e) => console.log(e.type.name, e.get('x')));
 *     await room.request('interact', { target: 7 });
 */
export function join(options: JoinOptions): Promise<Room> {
  const url = options.url ?? globalThis.location?.href;
  if (url === undefined) throw new TypeError('join: url is needed outside of a page');
  return new Promise<Room>((resolve, reject) => {
    const room = new Room(() => resolve(room));
    const dialer = new Dialer(
      options.dials ?? { webrtc: dialWebRTC, websocket: dialWebSocket },
      new URL('./', url).href,
      options.token,
      options.transport ?? 'auto',
      (f) => {
        options.onFallback?.(f);
        room.fellBack(f);
      },
    );
    const hello: Hello = { versions, room: options.room };
    if (options.token !== undefined) hello.token = options.token;
    if (options.identity !== undefined) hello.identity = options.identity;
    if (options.name !== undefined) hello.name = options.name;
    if (options.profile !== undefined) hello.profile = options.profile;
    const session = new Session(dialer, hello, room, options.silenceMs);
    room.bind(session);
    options.onRoom?.(room);
    const online = (): void => session.retryNow();
    globalThis.addEventListener?.('online', online);
    room.on('closed', (e: GatehouseError) => {
      globalThis.removeEventListener?.('online', online);
      reject(e); // without effect once it has resolved
    });
    session.join().catch(reject);
  });
}
