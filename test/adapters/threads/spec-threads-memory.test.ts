import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { createFakeClock } from '../../support/clock.ts';

const { cache } = createRequire(import.meta.url);
const loadedOf = (name: string): string[] =>
  Object.keys(cache).filter((file) => file.includes(`/node_modules/${name}/`));

// A file of its own: what another test loads stays loaded.
test('a spec of any size is validated nowhere but in the thread', async () => {
  const { checkSpec: check } = createSpecThreads({ clock: createFakeClock() });
  expect(await check('{"asyncapi":"3.0.0"}')).toEqual([
    expect.objectContaining({ pointer: '#/spec', code: 'required' }),
  ]);
  expect(await check('{"openapi":"3.0.0"}')).not.toEqual([]);
  expect(loadedOf('ajv')).toEqual([]);
});
