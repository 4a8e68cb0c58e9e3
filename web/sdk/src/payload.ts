import { decodeText, encodeText } from './bytes.js';

/** What may be sent as a payload: bytes as they are, everything else as JSON; undefined is empty. */
export type Payload = Uint8Array | object | string | number | boolean | null | undefined;

export function encodePayload(p: Payload): Uint8Array {
  if (p instanceof Uint8Array) return p;
  return p === undefined ? new Uint8Array(0) : encodeText(JSON.stringify(p));
}

/** The value of a payload: undefined if empty, parsed if it is JSON, else its bytes. */
export function payloadData(payload: Uint8Array): unknown {
  if (payload.length === 0) return undefined;
  try {
    return JSON.parse(decodeText(payload));
  } catch {
    return payload;
  }
}

/** A payload that came from the room: its bytes, and its value when asked for. */
export class Message {
  private parsed: { value: unknown } | undefined;

  constructor(readonly payload: Uint8Array) {}

  /** The value: parsed JSON, bytes if it is not JSON, undefined if empty. */
  get data(): unknown {
    this.parsed ??= { value: payloadData(this.payload) };
    return this.parsed.value;
  }
}

/** An event of the room's game. */
export class GameEvent extends Message {
  constructor(
    readonly tick: number,
    readonly name: string,
    payload: Uint8Array,
  ) {
    super(payload);
  }
}

/** A message of another member. */
export class RelayedMessage extends Message {
  /** @param fast it came on the lane that may lose messages */
  constructor(
    readonly from: number,
    readonly fast: boolean,
    payload: Uint8Array,
  ) {
    super(payload);
  }
}
