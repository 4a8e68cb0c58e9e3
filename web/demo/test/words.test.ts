import { describe, expect, test } from 'vitest';
import { Code, GatehouseError } from '../../sdk/src/index.js';
import { endText, squeeze } from '../src/ui/words.js';

describe('the end of a game', () => {
  test.each([
    [Code.kicked, 'be nice', 'You were removed by an operator: be nice.'],
    [Code.kicked, 'removed by an operator', 'You were removed by an operator.'],
    [Code.room_closed, 'maintenance.', 'The room was closed: maintenance.'],
    [Code.room_full, 'room arena has 8 members, its cap', 'The room is full; try again later, or in another room.'],
    [Code.unauthorized, 'the token is for another room', 'This server asks for a token: the token is for another room.'],
    [Code.session_expired, 'whatever', 'Your place in the room is gone: the server restarted, or you were away for too long.'],
    [Code.going_away, 'the server can not be reached', 'The server can not be reached.'],
    [4999, 'something new', 'Something new.'],
  ])('by %i, %s', (code, reason, words) => expect(endText({ code, reason })).toBe(words));

  test('has words for every code, with or without a reason', () => {
    for (const code of Object.values(Code)) {
      expect(endText(new GatehouseError(code))).toMatch(/^[A-Z][^:]+\.$|: the server restarted/);
      expect(endText({ code, reason: '' })).not.toContain(': .');
    }
  });
});

test('names are trimmed and squeezed', () => {
  expect(squeeze('  Ann \t  of  the\nhill ')).toBe('Ann of the hill');
  expect(squeeze(' \n ')).toBe('');
});
