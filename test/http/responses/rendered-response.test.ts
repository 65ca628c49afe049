import { expect, test } from 'vitest';
import { z } from 'zod';
import { cacheStatus, createRenderer, strongEtag } from '#http/responses/rendered-response.ts';

test.each([
  [{ outcome: 'hit', ttlMs: 11_999 }, 'trackport; hit; ttl=11'],
  [{ outcome: 'hit', ttlMs: -1 }, 'trackport; hit; ttl=0'],
  [{ outcome: 'miss', ttlMs: 15_000 }, 'trackport; fwd=miss; stored; ttl=15'],
  [{ outcome: 'stale', ttlMs: -1500 }, 'trackport; fwd=stale; fwd-status=503; ttl=-2'],
  [{ outcome: 'stale', ttlMs: 1500 }, 'trackport; fwd=stale; fwd-status=503; ttl=0'],
] as const)('%j is reported as %s', (facts, status) => {
  expect(cacheStatus({ ...facts, ageMs: 0 })).toBe(status);
});

test('what the schema does not name does not leave', () => {
  const render = createRenderer(z.object({ id: z.string() }));
  expect(render({ id: '7', secret: 'x' }).bytes).toBe('{"id":"7"}');
});

test('the same object is rendered once', () => {
  const render = createRenderer(z.object({ id: z.string() }));
  const value = { id: '7' };
  expect(render(value)).toBe(render(value));
});

test('equal bytes have one validator, other bytes another', () => {
  const render = createRenderer(z.object({ id: z.string() }));
  const etag = strongEtag(Buffer.from('{"id":"7"}'));
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(render({ id: '7' }).etag).toBe(etag);
  expect(render({ id: '8' }).etag).not.toBe(etag);
});
