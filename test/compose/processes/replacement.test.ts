import { expect, test } from 'vitest';
import { createReplacement } from '../../../src/compose/processes/replacement.ts';
import type { MemberEnd } from '../../../src/compose/processes/member.ts';

const crashed: MemberEnd = {
  pid: 7,
  cause: 'exit code 1',
  hasListened: false,
  isStoreAway: false,
};
const wrong: MemberEnd = { ...crashed, detail: 'Port 80 may not be used.' };
const storeAway: MemberEnd = { ...crashed, detail: 'The store is away.', isStoreAway: true };
const serving = { hasServiceStarted: true, livedMs: 10 };

test('while the store is away a process is started again for ever, every 30 s in the end', () => {
  const replacement = createReplacement();
  const waits = Array.from({ length: 100 }, () => replacement.after(storeAway, serving));
  expect(waits.slice(0, 3)).toEqual([100, 200, 400].map((waitMs) => ({ kind: 'another', waitMs })));
  expect(waits.at(-1)).toEqual({ kind: 'another', waitMs: 30_000 });
});

test('nine starts in vain for another reason are the end, however long the store was away between', () => {
  const replacement = createReplacement();
  for (let at = 0; at < 8; at += 1) {
    expect(replacement.after(crashed, serving).kind).toBe('another');
    expect(replacement.after(storeAway, serving).kind).toBe('another');
  }
  expect(replacement.after(crashed, serving)).toMatchObject({
    kind: 'in-vain',
    error: { message: expect.stringContaining('ended 9 times in a row') },
  });
});

test('a process that has served starts the count anew', () => {
  const replacement = createReplacement();
  for (let at = 0; at < 8; at += 1) replacement.after(crashed, serving);
  expect(replacement.after({ ...crashed, hasListened: true }, serving).kind).toBe('another');
  for (let at = 0; at < 8; at += 1)
    expect(replacement.after(crashed, serving).kind).toBe('another');
});

test('who lived for a minute is replaced at once', () => {
  const replacement = createReplacement();
  for (let at = 0; at < 5; at += 1) replacement.after(storeAway, serving);
  const late = { hasServiceStarted: true, livedMs: 60_000 };
  expect(replacement.after(crashed, late)).toEqual({ kind: 'another', waitMs: 100 });
});

test.for([wrong, storeAway])('before the service has served its first reason is the end', (end) => {
  const starting = { hasServiceStarted: false, livedMs: 10 };
  expect(createReplacement().after(end, starting)).toMatchObject({
    kind: 'in-vain',
    error: { message: end.detail },
  });
});
