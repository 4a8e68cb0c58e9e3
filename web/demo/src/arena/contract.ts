// What the arena and its clients agree on: authority/games/arena, doc.go, schema.go
// and messages.go.

import type { Rules } from './movement.js';

/** Indices of the types in the schema. */
export const Type = { match: 0, player: 1, enemy: 2, projectile: 3, item: 4, door: 5 } as const;

export const Match = { phase: 0, round: 1, seconds: 2, winner: 3, wave: 4 } as const;
export const Phase = { play: 0, intermission: 1 } as const;

export const Player = {
  owner: 0,
  x: 1,
  y: 2,
  vx: 3,
  vy: 4,
  dash: 5,
  power: 6,
  flags: 7,
  aim: 8,
  health: 9,
  powerLeft: 10,
  wait: 11,
  score: 12,
  kills: 13,
  deaths: 14,
  color: 15,
  skin: 16,
} as const;

export const Flag = { alive: 1, moving: 2, attacking: 4, shielded: 8, away: 16, dashing: 32 } as const;
export const Power = { none: 0, haste: 1, spread: 2, shield: 3 } as const;

export const Enemy = { kind: 0, x: 1, y: 2, aim: 3, health: 4, state: 5 } as const;
export const EnemyKind = { grub: 0, spitter: 1, brute: 2 } as const;
export const EnemyState = { patrol: 0, chase: 1, windup: 2, stun: 3 } as const;

export const Projectile = { kind: 0, owner: 1, x: 2, y: 3, aim: 4 } as const;
export const ProjectileKind = { bolt: 0, spit: 1 } as const;

export const Item = { kind: 0, x: 1, y: 2 } as const;
export const ItemKind = { health: 0, haste: 1, spread: 2, shield: 3, gem: 4 } as const;

export const Door = { x: 0, y: 1, open: 2 } as const;

/** Reasons of despawns. */
export const Gone = { reset: 0, killed: 1, pickedUp: 2, expired: 3, left: 4, hit: 5, wall: 6 } as const;

export const fullHealth = 100;
/** Names, full health and half widths (in tiles) of enemies, by kind. */
export const breeds = [
  { name: 'Grub', health: 30, radius: 72 / 256 },
  { name: 'Spitter', health: 40, radius: 80 / 256 },
  { name: 'Brute', health: 120, radius: 112 / 256 },
] as const;

export const itemNames = ['Repair', 'Haste', 'Spread', 'Shield', 'Gem'] as const;

/** The room's config; numbers in 1/256 tile and ticks. */
export interface Config {
  map: string[];
  movement: Rules;
  bolt_speed: number;
  spit_speed: number;
  interact_reach: number;
  strike_reach: number;
  respawn_ticks: number;
  round_ticks: number;
  intermission_ticks: number;
}

export interface Damage {
  target: number;
  amount: number;
  source: number;
}

export interface Kill {
  victim: number;
  victim_peer: number;
  kind: number;
  killer: number;
  killer_peer: number;
  x: number;
  y: number;
}

export interface Score {
  peer: number;
  name: string;
  score: number;
  kills: number;
  deaths: number;
}

/** The payload of `game_event`. */
export type ArenaEvent =
  | { type: 'kill'; payload: Kill }
  | { type: 'pickup'; payload: { peer: number; item: number; kind: number } }
  | { type: 'door'; payload: { door: number; open: boolean; peer: number } }
  | { type: 'respawn'; payload: { peer: number; player: number } }
  | { type: 'wave'; payload: { wave: number } }
  | { type: 'round_start'; payload: { round: number; ticks: number } }
  | { type: 'round_end'; payload: { round: number; winner: number; scores: Score[] } };

/** What the player wants in a tick. */
export interface Intent {
  /** -127 to 127. */
  moveX: number;
  moveY: number;
  dash: boolean;
  attack: boolean;
  /** 1/256 turn. */
  aim: number;
}

/** One input on the wire. */
export function encodeIntent(i: Intent): Uint8Array {
  return Uint8Array.of((i.attack ? 1 : 0) | (i.dash ? 2 : 0), i.moveX & 255, i.moveY & 255, i.aim & 255);
}

/** An angle in radians as 1/256 turn. */
export function toAim(radians: number): number {
  return Math.round((radians / (2 * Math.PI)) * 256) & 255;
}

/** 1/256 turn in radians. */
export function fromAim(aim: number): number {
  return (aim / 256) * 2 * Math.PI;
}
