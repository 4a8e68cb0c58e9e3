import { bitLength } from './bits.js';
import { ProtocolError } from './bytes.js';

/** A schema as a welcome carries it. */
export interface SchemaJSON {
  types: {
    name: string;
    fields?: { name: string; min: number; max: number; step?: number; unit?: number }[];
  }[];
}

/** One quantized value of an entity. On the wire it is `(v - min) / step`, in `bits` bits. */
export interface Field {
  readonly name: string;
  readonly index: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** Turns the integer into what people read: 1/256 for a position in 1/256 tile. */
  readonly unit: number;
  readonly bits: number;
  /** The largest number that stands for a value: that of max. */
  readonly top: number;
}

/** A kind of entity. */
export interface EntityType {
  readonly name: string;
  readonly index: number;
  readonly fields: readonly Field[];
  /** Index of a field by its name. */
  readonly field: ReadonlyMap<string, number>;
}

const maxTypes = 64;
const maxFields = 32;

/** The types of entities of a game, with what the decoder needs to know of them. */
export class Schema {
  readonly types: readonly EntityType[];
  /** Bits of a type's index on the wire. */
  readonly typeBits: number;

  /** Throws a {@link ProtocolError} that names the field of a faulty schema. */
  constructor(json: SchemaJSON) {
    const types = json?.types;
    if (!Array.isArray(types) || types.length < 1 || types.length > maxTypes) {
      throw new ProtocolError(`schema.types: 1 to ${maxTypes} types are accepted`);
    }
    this.types = types.map((t, index) => {
      const fields = t?.fields ?? [];
      if (typeof t?.name !== 'string' || !Array.isArray(fields) || fields.length > maxFields) {
        throw new ProtocolError(`schema.types[${index}]: a name and at most ${maxFields} fields are accepted`);
      }
      const checked = fields.map((f, i) => checkField(t.name, f, i));
      return { name: t.name, index, fields: checked, field: new Map(checked.map((f) => [f.name, f.index])) };
    });
    this.typeBits = bitLength(types.length - 1);
  }

  /** The type of that name; throws a RangeError if there is none. */
  type(name: string): EntityType {
    const t = this.types.find((t) => t.name === name);
    if (t === undefined) throw new RangeError(`the schema has no type ${name}`);
    return t;
  }
}

function checkField(type: string, f: NonNullable<SchemaJSON['types'][number]['fields']>[number], index: number): Field {
  const where = `schema field ${type}.${f?.name}`;
  const step = f?.step || 1;
  const isInt32 = (v: unknown): boolean => typeof v === 'number' && (v | 0) === v;
  if (typeof f?.name !== 'string' || !isInt32(f.min) || !isInt32(f.max) || !isInt32(step)) {
    throw new ProtocolError(`${where}: min, max and step must be 32-bit integers`);
  }
  if (step < 0 || f.min >= f.max) throw new ProtocolError(`${where}: min must be below max, and step above 0`);
  const top = Math.floor((f.max - f.min) / step);
  return { name: f.name, index, min: f.min, max: f.max, step, unit: f.unit || 1, bits: bitLength(top), top };
}
