import type { EntityType } from './schema.js';

/**
 * An entity as the client holds it. Treat it as read-only: the world writes it
 * when it applies a snapshot. The object stays the same from spawn to despawn.
 */
export class Entity {
  /** The server's tick at which it was last changed here. */
  changedAt = 0;

  /**
   * @param generation tells apart entities that had the same id
   * @param numbers the fields as they are on the wire, in the order of the schema
   */
  constructor(
    readonly id: number,
    readonly generation: number,
    readonly type: EntityType,
    readonly numbers: Uint32Array,
  ) {}

  /** The integer value of the field with that index; at most the field's max. */
  int(index: number): number {
    const f = this.type.fields[index];
    if (f === undefined) throw new RangeError(`type ${this.type.name} has no field ${index}`);
    return Math.min(f.min + (this.numbers[index] as number) * f.step, f.max);
  }

  /** The value of a field in its unit, by name. */
  get(name: string): number {
    const index = this.type.field.get(name);
    if (index === undefined) throw new RangeError(`type ${this.type.name} has no field ${name}`);
    return this.int(index) * (this.type.fields[index] as { unit: number }).unit;
  }

  /** Sets fields to numbers of the wire. False if they had them already. */
  set(fields: Iterable<readonly [index: number, number: number]>): boolean {
    let changed = false;
    for (const [index, number] of fields) {
      changed ||= this.numbers[index] !== number;
      this.numbers[index] = number;
    }
    return changed;
  }

  /** Hash of the entity; docs/protocol.md §6. */
  hash(): number {
    let h = 2166136261;
    h = mix(h, this.id);
    h = mix(h, this.generation);
    h = mix(h, this.type.index);
    for (const q of this.numbers) h = mix(h, q);
    h ^= h >>> 16;
    h = Math.imul(h, 0x85ebca6b);
    h ^= h >>> 13;
    h = Math.imul(h, 0xc2b2ae35);
    h ^= h >>> 16;
    return h >>> 0;
  }
}

function mix(h: number, w: number): number {
  h = Math.imul(h ^ w, 16777619);
  return h ^ (h >>> 15);
}
