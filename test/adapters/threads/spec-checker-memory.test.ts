import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { createSpecChecker } from '#adapters/threads/spec-checker.ts';
import { createFakeClock } from '../../support/clock.ts';

const { cache } = createRequire(import.meta.url);
const loadedOf = (name: string): string[] =>
  Object.keys(cache).filter((file) => file.includes(`/node_modules/${name}/`));

// A file of its own: what another test loads stays loaded.
test('an AsyncAPI spec of any size loads its validator nowhere but in the thread', async () => {
  const check = createSpecChecker({ clock: createFakeClock() });
  expect(await check('{"asyncapi":"3.0.0"}')).toEqual([
    expect.objectContaining({ pointer: '#/spec', code: 'required' }),
  ]);
  expect(loadedOf('ajv')).toEqual([]);
  await check('{"openapi":"3.0.0"}');
  expect(loadedOf('ajv')).not.toEqual([]);
});
