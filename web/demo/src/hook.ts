import type { Peer, Room } from '../../sdk/src/index.js';

const kept = 300;

/** What tests see of the page, as `window.gatehouse`. */
export interface Hook {
  readonly state: string;
  readonly transport: string | undefined;
  readonly tick: number;
  readonly you: number;
  readonly entities: number;
  readonly peers: Peer[];
  /** Hash of the world by tick, of the newest 300 that were applied. */
  readonly hashes: ReadonlyMap<number, number>;
  /** Why WebRTC is not used, if it was wanted. */
  readonly fallback: string | undefined;
  /** Where the own player is predicted, in 1/256 tile. */
  readonly at: { x: number; y: number } | undefined;
  readonly corrections: number;
  readonly room: Room;
  hash(): number;
}

declare global {
  interface Window {
    gatehouse?: Hook;
  }
}

/** Hangs the hook on the window, and keeps the hashes as snapshots come. */
export function installHook(
  room: Room,
  own: () => { at: { x: number; y: number } | undefined; corrections: number; fallback: string | undefined },
): void {
  const hashes = new Map<number, number>();
  const note = (tick: number): void => {
    hashes.set(tick, room.world.hash());
    if (hashes.size > kept) hashes.delete(hashes.keys().next().value as number);
  };
  note(room.world.tick);
  room.on('snapshot', (a) => note(a.tick));
  window.gatehouse = {
    get state() {
      return room.state;
    },
    get transport() {
      return room.transport;
    },
    get tick() {
      return room.world.tick;
    },
    get you() {
      return room.you;
    },
    get entities() {
      return room.world.entities.size;
    },
    get peers() {
      return [...room.peers.values()];
    },
    get fallback() {
      return own().fallback;
    },
    get at() {
      return own().at;
    },
    get corrections() {
      return own().corrections;
    },
    hashes,
    room,
    hash: () => room.world.hash(),
  };
}
