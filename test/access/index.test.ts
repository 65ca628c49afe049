import { expect, test } from 'vitest';
import { buildTestAccess, origin } from './support.ts';

test('a good key names its consumer, whose calls are counted by its own limit or the default', async () => {
  const { access } = buildTestAccess();
  const { consumer, issued } = await access.consumers.create({ name: 'Portal' }, origin);
  const principal = await access.authenticate(issued.key.reveal());
  expect(principal).toMatchObject({ consumerId: consumer.id, keyId: issued.stored.keyId });
  expect(access.countCall(principal)).toMatchObject({ limitPerMinute: 600, remaining: 599 });
  const own = { ...principal, limitPerMinute: 5 };
  expect(access.countCall(own)).toMatchObject({ limitPerMinute: 5, remaining: 3 });
});

test('closing writes when keys were last used', async () => {
  const { access, clock } = buildTestAccess();
  const { issued } = await access.consumers.create({ name: 'Portal' }, origin);
  await access.authenticate(issued.key.reveal());
  const use = async () => (await access.consumers.read('c-1')).keys[0]?.lastUsedAt;
  expect(await use()).toBeUndefined();
  await access.close();
  expect(await use()).toBe(clock.now());
});
