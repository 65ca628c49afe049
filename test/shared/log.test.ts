import { expect, test } from 'vitest';
import { describeBug, errorFields } from '#shared/log.ts';

/** As libraries word them: with a body and an address in it. */
const MESSAGE = 'refused {"email":"ada@example.com"} of https://crm.example.com/secret';

function failure(): Error {
  const cause = Object.assign(new RangeError(MESSAGE), { code: 'ECONNRESET' });
  return new TypeError(MESSAGE, { cause });
}

test('of an error a log has the classes and codes of it and its causes, and no message', () => {
  expect(errorFields(failure())).toEqual({ error: 'TypeError < RangeError(ECONNRESET)' });
  expect(errorFields(MESSAGE)).toEqual({ error: 'string' });
});

test('of several failures of one stop it has the first', () => {
  const error = new SuppressedError(new TypeError(MESSAGE), failure().cause);
  expect(errorFields(error)).toEqual({ error: 'SuppressedError < RangeError(ECONNRESET)' });
});

test('of a bug standard error has the places, too, and no message', () => {
  const text = describeBug(failure());
  expect(text).toMatch(
    /^Unexpected failure: TypeError < RangeError\(ECONNRESET\)\n {4}at .*failure/,
  );
  expect(text).not.toContain('ada@example.com');
});
