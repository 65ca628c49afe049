import { describe, expect, test } from 'vitest';
import { deprecateVersion } from '#catalog/lifecycle/change-lifecycle.ts';
import { readVersion } from '#catalog/version/read-version.ts';
import { DAY } from '#shared/clock.ts';
import { origin as byOperator } from '../../../access/support.ts';
import { origin, setUp } from './support.ts';

/** Version 1.0.0, PUBLISHED, read twice by a consumer called Sales, and once by a client a day before. */
async function setUpRead() {
  const world = setUp();
  const { catalog, access, create, clock, publish } = world;
  const { record } = await create({ version: '1.0.0' });
  await publish('1.0.0');
  const { consumer } = await access.consumers.create({ name: 'Sales', force: true }, byOperator);
  catalog.usage.record(record.serial, { kind: 'client', id: 'shop' });
  await clock.advance(DAY);
  for (const _time of [1, 2])
    catalog.usage.record(record.serial, { kind: 'consumer', id: consumer.id });
  return { ...world, consumer };
}

const cardOf = (body: string): string =>
  /<section class="card" aria-labelledby="h-readers">.*?<\/section>/s.exec(body)?.[0] ?? '';
const textOf = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

describe('the readers of an artifact', () => {
  test('are shown with how often and when last, by version, as a picture in words and as a table', async () => {
    const { signIn, create, consumer } = await setUpRead();
    await create({ version: '2.0.0' });
    const operator = await signIn(['catalog:read', 'trackport:admin']);
    const card = cardOf((await operator.get('/portal/catalog/leads')).body);
    expect(card).toContain(
      'aria-label="1.0.0, published: 3 reads by 2 readers, the last 0 s ago."',
    );
    expect(textOf(card)).toContain(
      'Last read Reads Sales consumer 1. 0. 0 0 s ago 2 shop client 1. 0. 0 24 h ago 1',
    );
    expect(card).toContain(`href="/portal/consumers/${consumer.id}"`);
    expect(card).not.toContain('version=2.0.0');
  });

  test('have no name and no page for whoever is no operator', async () => {
    const { signIn, consumer } = await setUpRead();
    const card = cardOf((await (await signIn(['catalog:read'])).get('/portal/catalog/leads')).body);
    expect(card).toContain(consumer.id);
    expect(card).not.toMatch(/Sales|portal\/consumers/);
  });

  test('are none: that is said, and what counts', async () => {
    const { signIn, create } = setUp();
    await create();
    const { body } = await (await signIn(['catalog:read'])).get('/portal/catalog/leads');
    expect(textOf(cardOf(body))).toMatch(/^Readers last 90 days Nobody has read .*does not count/);
  });
});

test('deprecating a version names those who are to be told', async () => {
  const { signIn } = await setUpRead();
  const owner = await signIn(['catalog:read', 'catalog:publish', 'trackport:admin']);
  const { body } = await owner.get('/portal/catalog/leads/versions/1.0.0/deprecate');
  expect(textOf(body)).toMatch(/2 readers in the last 30 days .*Sales consumer , 0 s ago/);
});

describe('retiring a version that is read', () => {
  const path = '/portal/catalog/leads/versions/1.0.0/retire';

  test('names its readers, and asks for a word', async () => {
    const { catalog, signIn } = await setUpRead();
    await deprecateVersion(catalog, origin, { id: 'leads', version: '1.0.0' });
    const operator = await signIn(['catalog:read', 'catalog:publish', 'trackport:admin']);
    const { body } = await operator.get(path);
    expect(textOf(body)).toMatch(
      /2 readers in the last 30 days .*Sales consumer , 0 s ago .*shop client , 24 h ago/,
    );
    const seen = /name="seen" value="([^"]*)"/.exec(body)?.[1] ?? '';
    const fields = { seen: seen.replaceAll('&quot;', '"'), typed: '1.0.0' };
    const refused = await operator.post(path, fields);
    expect([refused.status, textOf(refused.body)]).toEqual([
      422,
      expect.stringContaining('Tick the box to retire it all the same.'),
    ]);
    const done = await operator.post(path, { ...fields, early: 'yes' });
    expect(done.status).toBe(303);
    const found = await readVersion(catalog.db, 'default', {
      id: 'leads',
      version: '1.0.0',
      withSpec: false,
    });
    expect(found).toMatchObject({ record: { lifecycle: 'RETIRED' } });
  });

  test('asks nothing of the kind once nobody has read it for 30 days', async () => {
    const { catalog, clock, signIn } = await setUpRead();
    await deprecateVersion(catalog, origin, { id: 'leads', version: '1.0.0' });
    await clock.advance(30 * DAY);
    const { body } = await (await signIn(['catalog:read', 'catalog:publish'])).get(path);
    expect(body).toContain('Retire 1.0.0');
    expect(body).not.toMatch(/in the last 30 days|name="early"/);
  });
});
