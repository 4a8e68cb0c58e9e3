import { ProtocolError, decodeText, encodeText } from './bytes.js';
import type { SchemaJSON } from './schema.js';

/** The protocol versions this SDK speaks, best first. */
export const versions = [1];

/** Body of hello: a join, or the resume of a session. docs/protocol.md §3. */
export interface Hello {
  versions: number[];
  room?: string;
  token?: string;
  identity?: string;
  name?: string;
  profile?: unknown;
  acks?: boolean;
  resume?: { secret: string; received: number };
}

/** Body of welcome. */
export interface Welcome {
  version: number;
  session: string;
  resume?: { secret: string; grace_ms: number };
  resumed?: boolean;
  gap?: boolean;
  received: number;
  room: RoomInfo;
  you: number;
  /** Absent in the answer to a resume: the roster that is held is still right. */
  peers?: Peer[];
  tick: number;
  tick_rate: number;
  schema?: SchemaJSON;
  limits: Limits;
}

/** The room that was joined. */
export interface RoomInfo {
  name: string;
  instance: string;
  kind: string;
  game?: string;
  /** What the game tells its clients: a map, constants. */
  config?: unknown;
}

/** A member of the room, oneself included. */
export interface Peer {
  id: number;
  name: string;
  away?: boolean;
  profile?: unknown;
}

/** What a client must keep to. */
export interface Limits {
  reliable_bytes: number;
  unreliable_bytes: number;
  ping_ms: number;
  timeout_ms: number;
  messages_per_second: number;
}

/** Body of peer: what happened to a member, or the whole roster after a gap. */
export type PeerNotice =
  | {
      event: 'joined' | 'away' | 'back' | 'left';
      id: number;
      name?: string;
      profile?: unknown;
      /** With left: the name of a code. */
      reason?: string;
    }
  | { event: 'roster'; peers: Peer[] };

/** Body of close, the last frame of a link. */
export interface Close {
  code: number;
  name: string;
  reason?: string;
  retry?: boolean;
  versions?: number[];
}

/** Encodes a JSON body. */
export function encodeJSON(v: unknown): Uint8Array {
  return encodeText(JSON.stringify(v));
}

function decodeObject(what: string, body: Uint8Array): Record<string, unknown> {
  let v: unknown;
  try {
    v = JSON.parse(decodeText(body));
  } catch {
    throw new ProtocolError(`${what} is not JSON`);
  }
  if (typeof v !== 'object' || v === null || Array.isArray(v)) throw new ProtocolError(`${what} is not an object`);
  return v as Record<string, unknown>;
}

function need(ok: boolean, what: string): void {
  if (!ok) throw new ProtocolError(`${what} is missing or of the wrong type`);
}

const isCount = (v: unknown): v is number => typeof v === 'number' && Number.isSafeInteger(v) && v >= 0;

/** Decodes and checks a welcome; unknown fields are kept and ignored. */
export function decodeWelcome(body: Uint8Array): Welcome {
  const w = decodeObject('welcome', body);
  need(isCount(w.version), 'welcome.version');
  need(typeof w.session === 'string', 'welcome.session');
  need(isCount(w.received ?? 0), 'welcome.received');
  need(isCount(w.you), 'welcome.you');
  need(isCount(w.tick ?? 0), 'welcome.tick');
  need(isCount(w.tick_rate ?? 0), 'welcome.tick_rate');
  need(typeof w.room === 'object' && w.room !== null, 'welcome.room');
  need(typeof w.limits === 'object' && w.limits !== null, 'welcome.limits');
  const limits = w.limits as Record<string, unknown>;
  for (const k of ['reliable_bytes', 'unreliable_bytes', 'ping_ms', 'timeout_ms', 'messages_per_second']) {
    need(isCount(limits[k]), `welcome.limits.${k}`);
  }
  if (w.resume !== undefined) {
    const r = w.resume as Record<string, unknown> | null;
    need(r !== null && typeof r === 'object' && typeof r.secret === 'string' && isCount(r.grace_ms), 'welcome.resume');
  }
  w.peers ??= undefined;
  need(w.peers === undefined || isRoster(w.peers), 'welcome.peers');
  return { ...w, received: w.received ?? 0, tick: w.tick ?? 0, tick_rate: w.tick_rate ?? 0 } as unknown as Welcome;
}

function isPeer(p: unknown): p is Peer {
  return typeof p === 'object' && p !== null && isCount((p as Peer).id) && typeof (p as Peer).name === 'string';
}

function isRoster(v: unknown): v is Peer[] {
  return Array.isArray(v) && v.every(isPeer);
}

/** Decodes and checks a notice about a member, or about all. */
export function decodePeer(body: Uint8Array): PeerNotice {
  const p = decodeObject('peer', body);
  need(typeof p.event === 'string', 'peer.event');
  if (p.event === 'roster') need(isRoster(p.peers), 'peer.peers');
  else need(isCount(p.id), 'peer.id');
  return p as unknown as PeerNotice;
}

/** Decodes and checks a close. */
export function decodeClose(body: Uint8Array): Close {
  const c = decodeObject('close', body);
  need(isCount(c.code), 'close.code');
  return c as unknown as Close;
}

/** Decodes the deadline of a draining server, in ms. */
export function decodeDraining(body: Uint8Array): number {
  const d = decodeObject('draining', body);
  need(isCount(d.deadline_ms), 'draining.deadline_ms');
  return d.deadline_ms as number;
}
