/**
 * Codes say why a link or a session ended, or why a request was refused; they
 * are the same on every transport. 4000 to 4399 invite a client to come back,
 * 4400 to 4999 are terminal. docs/protocol.md §8.
 */
export const Code = {
  ok: 0,
  going_away: 4000,
  slow_consumer: 4001,
  timeout: 4002,
  join_timeout: 4003,
  overloaded: 4004,
  internal: 4005,
  room_failed: 4006,
  left: 4400,
  kicked: 4401,
  duplicate_identity: 4402,
  room_closed: 4403,
  room_full: 4404,
  no_room: 4405,
  unauthorized: 4406,
  token_expired: 4407,
  session_expired: 4408,
  version: 4409,
  protocol: 4410,
  too_big: 4411,
  rate_limited: 4412,
  bad_name: 4413,
  forbidden: 4414,
  replaced: 4415,
  unknown_request: 4420,
  refused: 4421,
  gap: 4422,
  resync_too_often: 4423,
  duplicate_request: 4424,
} as const;

export type CodeName = keyof typeof Code;

const texts: Record<CodeName, string> = {
  ok: 'success',
  going_away: 'the server is going away; reconnect elsewhere',
  slow_consumer: 'messages were read too slowly',
  timeout: 'nothing was heard for too long',
  join_timeout: 'no hello came in time',
  overloaded: 'the server has no capacity just now',
  internal: 'the server failed',
  room_failed: 'the room failed and was ended',
  left: 'the client left',
  kicked: 'an operator removed the session',
  duplicate_identity: 'the same identity joined from elsewhere',
  room_closed: 'the room was closed',
  room_full: 'the room is full',
  no_room: 'there is no such room',
  unauthorized: 'the token does not admit to this room',
  token_expired: 'the token has expired',
  session_expired: 'the session can not be resumed; join afresh',
  version: 'no protocol version in common',
  protocol: 'the protocol was broken',
  too_big: 'a message was larger than the limit',
  rate_limited: 'too many messages',
  bad_name: 'a name breaks the naming rule',
  forbidden: 'not admitted from here',
  replaced: 'the session went on over another connection',
  unknown_request: 'the game knows no such request',
  refused: 'the game refused the request',
  gap: 'lost with the state of the session',
  resync_too_often: 'at most one resync a second',
  duplicate_request: 'the response of this request id is no longer kept',
};

const names = new Map<number, CodeName>(
  (Object.keys(Code) as CodeName[]).map((name) => [Code[name], name]),
);

/** The code's name, or `code_N` for one that this SDK does not know. */
export function codeName(code: number): string {
  return names.get(code) ?? `code_${code}`;
}

/** A sentence for a person. */
export function codeText(code: number): string {
  const name = names.get(code);
  return name === undefined ? `unknown code ${code}` : texts[name];
}

/** Whether a client may try again by itself. */
export function isRetryable(code: number): boolean {
  return code >= 4000 && code < 4400;
}

/** An error with a code: a refused join, a closed session, a failed request. */
export class GatehouseError extends Error {
  override name = 'GatehouseError';

  /**
   * @param code one of {@link Code}
   * @param reason what exactly was wrong; default: the code's own sentence
   * @param payload what a refused request was answered with
   */
  constructor(
    readonly code: number,
    readonly reason: string = codeText(code),
    readonly payload?: unknown,
  ) {
    super(`${codeName(code)}: ${reason}`);
  }
}
