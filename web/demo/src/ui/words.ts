import { Code, codeText, type GatehouseError } from '../../../sdk/src/index.js';

const sentences: Partial<Record<number, string>> = {
  [Code.kicked]: 'You were removed by an operator',
  [Code.duplicate_identity]: 'Someone joined with the same identity, perhaps you in another tab',
  [Code.replaced]: 'The game went on over another connection of yours',
  [Code.room_closed]: 'The room was closed',
  [Code.room_full]: 'The room is full; try again later, or in another room',
  [Code.no_room]: 'There is no such room',
  [Code.unauthorized]: 'This server asks for a token',
  [Code.token_expired]: 'The token has expired; ask for a new one',
  [Code.session_expired]: 'Your place in the room is gone: the server restarted, or you were away for too long',
  [Code.version]: 'This page and the server are of different versions; reload the page',
  [Code.bad_name]: 'The server does not take that name',
  [Code.forbidden]: 'The server admits nobody from this page',
  [Code.rate_limited]: 'This page sent too many messages',
  [Code.overloaded]: 'The server is full just now; try again soon',
  [Code.room_failed]: 'The room failed and was ended',
  [Code.left]: 'You have left',
};

/** Codes whose reason tells more than the sentence, unless it is one of the server's own that only repeat it. */
const reasoned: readonly number[] = [Code.kicked, Code.room_closed, Code.no_room, Code.unauthorized, Code.bad_name, Code.forbidden];
const repeated: readonly string[] = ['removed by an operator'];

/** Why a game ended or could not be joined, for a person. */
export function endText({ code, reason }: Pick<GatehouseError, 'code' | 'reason'>): string {
  const why = (reason || codeText(code)).replace(/\.$/, '');
  const sentence = sentences[code];
  if (sentence === undefined) return `${(why[0] ?? '').toUpperCase()}${why.slice(1)}.`;
  const tells = reasoned.includes(code) && why !== codeText(code) && !repeated.includes(why);
  return tells ? `${sentence}: ${why}.` : `${sentence}.`;
}

/** What a person typed, without the blanks that nobody means. */
export function squeeze(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
