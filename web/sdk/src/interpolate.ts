import type { Entity } from './entity.js';
import type { Applied } from './world.js';

/** How a field is shown between two snapshots. */
export type Blend =
  /** Straight from one value to the next. */
  | { readonly by: 'line' }
  /** The short way round, on a circle of `turn` steps. */
  | { readonly by: 'turn'; readonly turn: number };

/** Fields to blend per type and field name; all others change when their tick is shown. */
export type Blends = Readonly<Record<string, Readonly<Record<string, Blend>>>>;

export interface InterpolatorOptions {
  /** Ticks that a moving entity is carried on past its newest snapshot. Default 3. */
  readonly extrapolate?: number;
  /** A step of a `line` field larger than this between two ticks is a jump, not a move. Default: none is. */
  readonly jump?: number;
}

interface Sample {
  readonly tick: number;
  readonly values: readonly number[];
}

/** An entity over time, as far as it is still to be shown. */
interface Track {
  readonly entity: Entity;
  readonly blends: readonly (Blend | undefined)[];
  samples: Sample[];
  readonly born: number; // tick of its spawn
  end: number; // tick of its despawn
  reason: number;
}

/** An entity at the tick that is shown. */
export interface Shown {
  readonly entity: Entity;
  /** Its fields in the order of the schema. Valid until the next call. */
  readonly values: readonly number[];
}

const kept = 32; // samples of a track
/** Ticks after which an ended track is forgotten even if nobody has shown its end: a hidden page shows nothing. */
const unshown = 150;

/**
 * Interpolator shows entities as they were a few ticks ago, between the two
 * snapshots around that time. Entities appear and go when their tick is shown,
 * not when its snapshot comes.
 */
export class Interpolator {
  private readonly tracks = new Map<Entity, Track>();
  private ended: Track[] = []; // oldest first
  private newest = 0;
  private readonly extrapolate: number;
  private readonly jump: number;

  constructor(
    private readonly blends: Blends,
    options: InterpolatorOptions = {},
  ) {
    this.extrapolate = options.extrapolate ?? 3;
    this.jump = options.jump ?? Infinity;
  }

  /** Takes what a snapshot changed; call it for every one, right when it was applied. */
  record(a: Applied): void {
    const previous = this.newest;
    this.newest = a.tick;
    for (const { entity, reason } of a.despawned) {
      const track = this.tracks.get(entity);
      if (track !== undefined) {
        track.end = a.tick;
        track.reason = reason;
        this.ended.push(track);
      }
    }
    while (this.ended[0] !== undefined && this.ended[0].end < a.tick - unshown) {
      this.tracks.delete((this.ended.shift() as Track).entity);
    }
    for (const entity of a.spawned) {
      const rules = this.blends[entity.type.name] ?? {};
      const blends = entity.type.fields.map((f) => rules[f.name]);
      this.tracks.set(entity, { entity, blends, samples: [sampleOf(entity, a.tick)], born: a.tick, end: Infinity, reason: 0 });
    }
    for (const entity of a.updated) {
      const track = this.tracks.get(entity);
      if (track === undefined) continue;
      const last = track.samples[track.samples.length - 1] as Sample;
      // It had no record since: it stood until the snapshot before this one.
      if (last.tick < previous) track.samples.push({ tick: previous, values: last.values });
      track.samples.push(sampleOf(entity, a.tick));
      if (track.samples.length > kept) track.samples.splice(0, track.samples.length - kept);
    }
  }

  /**
   * Calls fn with every entity that exists at a tick (with a fraction), and forgets
   * those that have gone by then. The tick may differ by entity: what the player
   * itself has set going is better shown at the newest tick than in the past.
   */
  each(at: number | ((e: Entity) => number), fn: (s: Shown) => void, gone?: (entity: Entity, reason: number) => void): void {
    for (const [entity, track] of this.tracks) {
      const tick = typeof at === 'number' ? at : at(entity);
      if (track.end <= tick) {
        this.tracks.delete(entity);
        gone?.(entity, track.reason);
      } else if (track.born <= tick) {
        fn({ entity, values: this.at(track, tick) });
      }
    }
  }

  /** One entity at a tick; undefined if it is not to be shown. */
  sample(entity: Entity, tick: number): readonly number[] | undefined {
    const track = this.tracks.get(entity);
    if (track === undefined || track.end <= tick || track.born > tick) return undefined;
    return this.at(track, tick);
  }

  /** Forgets everything: the world was replaced. */
  clear(): void {
    this.tracks.clear();
    this.ended = [];
    this.newest = 0;
  }

  private at(track: Track, tick: number): readonly number[] {
    const { samples } = track;
    while (samples.length > 2 && (samples[1] as Sample).tick <= tick) samples.shift();
    const a = samples[0] as Sample;
    const b = samples[1];
    if (b === undefined || tick <= a.tick) return a.values;
    if (tick <= b.tick) return this.mix(track, a, b, (tick - a.tick) / (b.tick - a.tick));
    // Past the newest record: carried on only while no later snapshot says that it stands.
    if (b.tick < this.newest) return b.values;
    const ahead = Math.min(tick, b.tick + this.extrapolate);
    return this.mix(track, a, b, (ahead - a.tick) / (b.tick - a.tick));
  }

  private mix(track: Track, a: Sample, b: Sample, t: number): readonly number[] {
    return b.values.map((to, i) => {
      const blend = track.blends[i];
      const from = a.values[i] as number;
      if (blend === undefined) return t < 1 ? from : to;
      if (blend.by === 'line') return Math.abs(to - from) > this.jump ? (t < 1 ? from : to) : from + (to - from) * t;
      const half = blend.turn / 2;
      const short = ((((to - from + half) % blend.turn) + blend.turn) % blend.turn) - half;
      return (((from + short * t) % blend.turn) + blend.turn) % blend.turn;
    });
  }
}

function sampleOf(entity: Entity, tick: number): Sample {
  return { tick, values: entity.type.fields.map((f) => entity.int(f.index)) };
}
