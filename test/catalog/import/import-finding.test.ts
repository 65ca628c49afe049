import { expect, test } from 'vitest';
import { toFailure } from '#catalog/import/import-finding.ts';

const SECRET = 'hunter2';

test.each([
  [
    Object.assign(new Error(SECRET), { code: 'EIO' }),
    'unreadable',
    'The file cannot be read: EIO.',
  ],
  [new RangeError(SECRET), 'internal-error', 'Unexpected failure: RangeError.'],
  [SECRET, 'internal-error', 'Unexpected failure: string.'],
])('what nobody expected is not blamed on the file, nor quoted: %s', (error, code, detail) => {
  const failure = toFailure(error, { locate: () => undefined, faults: () => [] });
  expect(failure).toEqual({ detail, findings: [{ severity: 'error', code, detail }] });
});
