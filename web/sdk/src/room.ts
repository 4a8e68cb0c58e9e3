import { decodeEvent, decodeRelayed, encodeInput, encodeRelay, newer16 } from './bodies.js';
import { ProtocolError } from './bytes.js';
import { Clock } from './clock.js';
import { Code, GatehouseError } from './codes.js';
import { decodeDraining, decodePeer, type Limits, type Peer, type PeerNotice, type RoomInfo, type Welcome } from './control.js';
import type { Fallback } from './dialer.js';
import type { Entity } from './entity.js';
import { Emitter, type Off } from './events.js';
import { Kind, type Frame, type Lane } from './frame.js';
import { Hold } from './hold.js';
import { InputSender } from './input.js';
import type { LinkEnd, Transport } from './link.js';
import { Meter } from './meter.js';
import { GameEvent, RelayedMessage, encodePayload, payloadData, type Payload } from './payload.js';
import { Schema } from './schema.js';
import type { Phase, Session } from './session.js';
import { DivergedError } from './snapshot.js';
import { World, type Applied } from './world.js';

/**
 * Where a room stands for this client:
 * `connecting → joining → synchronized ⇄ resynchronizing`, both `⇄ away`, then
 * `leaving → closed`. An open connection is not a synchronized game.
 */
export type RoomState =
  | 'connecting'
  | 'joining'
  | 'synchronized'
  | 'resynchronizing'
  | 'away'
  | 'leaving'
  | 'closed';

/** What {@link Room.on} can listen to. */
export interface RoomEvents {
  /** The room's state changed; with `away`, how the connection ended. */
  state: { state: RoomState; previous: RoomState; end?: LinkEnd };
  /** {@link Room.unstable} changed. */
  unstable: boolean;
  /** The session plays over this transport now. */
  transport: Transport;
  /** WebRTC could not connect, and why; the session goes on over WebSocket. */
  fallback: Fallback;
  /** An entity appeared in the world. */
  spawn: Entity;
  /** An entity has gone; the reason is the game's own number. */
  despawn: { entity: Entity; reason: number };
  /** A snapshot was applied. Comes after its spawns and despawns. */
  snapshot: Applied;
  /** Any event of the game; see also {@link Room.onEvent}. */
  event: GameEvent;
  /** A message of another member. */
  relayed: RelayedMessage;
  /** A member came, went, or lost or found its connection; `peers` is up to date. */
  peer: PeerNotice;
  /** Reliable messages were lost in both directions while away; open requests have failed. */
  gap: undefined;
  /** The server will close its links within so many ms. */
  draining: number;
  /** The session is over. The last event. */
  closed: GatehouseError;
}

/** Figures of a room, for people and for tests. Rates are of the last second. */
export interface RoomStats {
  /** Round trip in ms, 0 if not known yet. */
  rtt: number;
  bytesInPerSecond: number;
  bytesOutPerSecond: number;
  snapshotsPerSecond: number;
  bytesIn: number;
  bytesOut: number;
  snapshots: number;
  /** Snapshots that were too late, or could not be applied. */
  dropped: number;
  resyncs: number;
  resumes: number;
  /** Inputs under way. */
  inputsWaiting: number;
}

const requestTimeout = 10_000;
/** An acknowledgement is repeated when no newer snapshot has come for so long, in ms: it may have been lost. */
const ackAgain = 250;

/** A room that was joined. Get one from {@link join}. */
export class Room {
  /** Tells the server's tick and the tick to show; it does not run in a room without simulation. */
  clock = new Clock(30);

  private readonly emitter = new Emitter<RoomEvents>();
  private readonly named = new Emitter<Record<string, GameEvent>>();
  private readonly held = new Hold<GameEvent>((e) => this.release(e));
  private readonly inputs = new InputSender();
  private readonly snapshotMeter = new Meter();
  private readonly members = new Map<number, Peer>();
  private readonly stamps = new Map<number, number>(); // by sender, of its newest fast message
  private current: RoomState = 'connecting';
  private session!: Session;
  private welcome: Welcome | undefined;
  private replica: World | undefined;
  private resyncAsked = false;
  private ackTimer: ReturnType<typeof setTimeout> | undefined;
  private dropped = 0;
  private resyncs = 0;

  /** Not for applications: {@link join} makes rooms. */
  constructor(private readonly synchronized: () => void) {}

  /** Not for applications. */
  bind(session: Session): void {
    this.session = session;
  }

  get state(): RoomState {
    return this.current;
  }

  /** The transport in use, undefined while there is none. */
  get transport(): Transport | undefined {
    return this.session.transport;
  }

  /** Whether the connection, though not given up yet, has fallen silent where something is due at every tick. */
  get unstable(): boolean {
    return this.session.unstable;
  }

  /** The room's name, game and what the game tells its clients. */
  get info(): RoomInfo {
    return this.joined.room;
  }

  /** One's own id among the members. */
  get you(): number {
    return this.joined.you;
  }

  /** All members by id, oneself included. */
  get peers(): ReadonlyMap<number, Peer> {
    return this.members;
  }

  get limits(): Limits {
    return this.joined.limits;
  }

  /** Ticks a second, 0 in a room without simulation. */
  get tickRate(): number {
    return this.joined.tick_rate;
  }

  /** The client's copy of the entities. Throws in a room without simulation. */
  get world(): World {
    if (this.replica === undefined) throw new GatehouseError(Code.no_room, 'this room has no simulation');
    return this.replica;
  }

  /** Listens to the room; returns what ends the listening. */
  on<K extends keyof RoomEvents>(name: K, listener: (e: RoomEvents[K]) => void): Off {
    return this.emitter.on(name, listener);
  }

  /** Listens to the events of the game that have a name; returns what ends the listening. */
  onEvent(name: string, listener: (e: GameEvent) => void): Off {
    return this.named.on(name, listener);
  }

  /**
   * Sends a request to the room's game and resolves with the value of the
   * response. Rejects with a {@link GatehouseError}: the game's refusal (its
   * `payload` says more), `gap` if it was lost with the session's state, or
   * `timeout`.
   */
  async request<T = unknown>(name: string, data?: Payload, options: { timeoutMs?: number } = {}): Promise<T> {
    const payload = await this.session.request(name, encodePayload(data), options.timeoutMs ?? requestTimeout);
    return payloadData(payload) as T;
  }

  /**
   * Sends a message to other members: to the listed ones, or to all others. A
   * fast one may be lost; of two fast ones the later is never followed by the earlier.
   */
  relay(data: Payload, options: { to?: number[]; fast?: boolean } = {}): void {
    const relay = { to: options.to ?? [], payload: encodePayload(data) };
    if (options.fast) this.session.sendUnreliable(Kind.relayFast, encodeRelay('unreliable', relay));
    else this.session.sendReliable(Kind.relay, encodeRelay('reliable', relay));
  }

  /**
   * Sends the input of a tick, with those that may have been lost; call it once
   * per tick (see {@link Pacer}). Returns its number, or undefined if it was not
   * taken: there is no connection, or too many are under way.
   */
  sendInput(payload: Uint8Array): number | undefined {
    if (this.current !== 'synchronized' && this.current !== 'resynchronizing') return undefined;
    const seq = this.inputs.push(payload);
    this.sendBatch();
    return seq;
  }

  /**
   * Moves the session to another transport while it plays on. Rejects if that
   * can not connect, with the reason; nothing has changed then.
   */
  async switchTransport(transport: Transport): Promise<void> {
    if (transport === this.transport) return;
    await this.session.switchTo(transport);
  }

  /** Leaves the room for good. */
  leave(): Promise<void> {
    return this.session.leave();
  }

  /** Cuts the connection, to see the session come back. */
  dropLink(): void {
    this.session.dropLink();
  }

  /** Tells that the network is back: the next attempt to return is made now. */
  retryNow(): void {
    this.session.retryNow();
  }

  stats(): RoomStats {
    const { session } = this;
    return {
      rtt: session.rtt,
      bytesInPerSecond: session.received.rate(),
      bytesOutPerSecond: session.sent.rate(),
      snapshotsPerSecond: this.snapshotMeter.rate(),
      bytesIn: session.received.total,
      bytesOut: session.sent.total,
      snapshots: this.snapshotMeter.total,
      dropped: this.dropped,
      resyncs: this.resyncs,
      resumes: session.resumes,
      inputsWaiting: this.inputs.waiting,
    };
  }

  private get joined(): Welcome {
    if (this.welcome === undefined) throw new GatehouseError(Code.no_room, 'the room was not joined yet');
    return this.welcome;
  }

  // What the session tells ---------------------------------------------------

  /** Not for applications. */
  phase(p: Phase, end?: LinkEnd): void {
    if (p !== 'open') this.enter(p, end);
  }

  /** Not for applications. */
  faltered(on: boolean): void {
    this.emitter.emit('unstable', on);
  }

  /** Not for applications. */
  fellBack(f: Fallback): void {
    this.emitter.emit('fallback', f);
  }

  /** Not for applications. */
  welcomed(w: Welcome): void {
    const first = this.welcome === undefined;
    this.welcome = w;
    if (w.peers !== undefined) this.takeRoster(w.peers);
    this.inputs.forget();
    if (first && w.schema !== undefined) {
      this.replica = new World(new Schema(w.schema));
      this.clock = new Clock(w.tick_rate || 30);
    }
    if (w.gap) {
      this.stamps.clear();
      this.held.clear();
    }
    const whole = this.replica === undefined || (this.replica.tick > 0 && !w.gap && !this.resyncAsked);
    this.emitter.emit('transport', this.session.transport as Transport);
    if (whole) this.enter('synchronized');
    else this.enter(first ? 'joining' : 'resynchronizing');
    if (w.gap) this.emitter.emit('gap', undefined);
  }

  /** Not for applications. */
  closed(e: GatehouseError): void {
    this.held.clear();
    clearTimeout(this.ackTimer);
    this.enter('closed');
    this.emitter.emit('closed', e);
    this.emitter.clear();
    this.named.clear();
  }

  /** Not for applications. */
  frame(f: Frame): void {
    switch (f.kind) {
      case Kind.snapshot:
        return this.takeSnapshot(f.body);
      case Kind.full:
        return this.takeChunk(f.body);
      case Kind.event: {
        const e = decodeEvent(f.body);
        return this.held.add(new GameEvent(e.tick, e.name, e.payload.slice()));
      }
      case Kind.relayed:
        return this.takeRelayed('reliable', f.body);
      case Kind.relayedFast:
        return this.takeRelayed('unreliable', f.body);
      case Kind.peer:
        return this.takePeer(decodePeer(f.body));
      case Kind.draining:
        return this.emitter.emit('draining', decodeDraining(f.body));
    }
  }

  private takeSnapshot(body: Uint8Array): void {
    if (this.replica === undefined) return;
    try {
      const applied = this.replica.applyDelta(body);
      if (applied === undefined) this.dropped++;
      else this.took(applied);
    } catch (e) {
      // A datagram can be made good by a full snapshot, whatever is wrong with it.
      if (!(e instanceof DivergedError || e instanceof ProtocolError)) throw e;
      this.dropped++;
      this.resync();
    }
  }

  private takeChunk(body: Uint8Array): void {
    try {
      this.took(this.replica?.applyChunk(body));
    } catch (e) {
      if (!(e instanceof DivergedError)) throw e;
      this.resync();
    }
  }

  private resync(): void {
    if (this.resyncAsked || this.replica?.tick === 0) return; // a full snapshot is on its way
    this.resyncAsked = true;
    this.resyncs++;
    this.session.sendReliable(Kind.resync, new Uint8Array(0));
    this.enter('resynchronizing');
  }

  private took(a: Applied | undefined): void {
    if (a === undefined) return; // chunks are missing
    this.snapshotMeter.add();
    this.clock.arrived(a.tick, performance.now());
    if (a.input !== undefined) this.inputs.applied(a.input);
    for (const d of a.despawned) this.emitter.emit('despawn', d);
    for (const e of a.spawned) this.emitter.emit('spawn', e);
    this.emitter.emit('snapshot', a);
    this.held.reached(a.tick);
    if (a.full) {
      this.resyncAsked = false;
      this.enter('synchronized');
    }
    if (this.inputs.snapshot(a.full)) this.sendBatch();
    this.repeatAck();
  }

  private repeatAck(): void {
    clearTimeout(this.ackTimer);
    if (this.current === 'closed') return;
    this.ackTimer = setTimeout(() => {
      this.sendBatch();
      this.repeatAck();
    }, ackAgain);
  }

  private sendBatch(): void {
    const world = this.replica;
    if (world === undefined) return;
    const tick = Math.max(0, Math.floor(this.clock.serverTick(performance.now())));
    this.session.sendUnreliable(Kind.input, encodeInput(this.inputs.batch(tick, world)));
  }

  private takeRelayed(lane: Lane, body: Uint8Array): void {
    const m = decodeRelayed(lane, body);
    if (lane === 'unreliable') {
      const last = this.stamps.get(m.sender);
      if (last !== undefined && !newer16(m.stamp, last)) return;
      this.stamps.set(m.sender, m.stamp);
    }
    this.emitter.emit('relayed', new RelayedMessage(m.sender, lane === 'unreliable', m.payload.slice()));
  }

  private takePeer(n: PeerNotice): void {
    if (n.event === 'roster') this.takeRoster(n.peers);
    else if (n.event === 'left') {
      this.members.delete(n.id);
      this.stamps.delete(n.id);
    } else {
      const member = this.members.get(n.id) ?? { id: n.id, name: '' };
      if (n.name !== undefined) member.name = n.name;
      if (n.profile !== undefined) member.profile = n.profile;
      if (n.event === 'away') member.away = true;
      else delete member.away;
      this.members.set(n.id, member);
    }
    this.emitter.emit('peer', n);
  }

  private takeRoster(peers: readonly Peer[]): void {
    this.members.clear();
    for (const p of peers) this.members.set(p.id, { ...p });
  }

  private release(e: GameEvent): void {
    this.named.emit(e.name, e);
    this.emitter.emit('event', e);
  }

  private enter(state: RoomState, end?: LinkEnd): void {
    const previous = this.current;
    if (previous === state || previous === 'closed' || (previous === 'leaving' && state !== 'closed')) return;
    this.current = state;
    if (state === 'synchronized') this.synchronized();
    this.emitter.emit('state', end === undefined ? { state, previous } : { state, previous, end });
  }
}
