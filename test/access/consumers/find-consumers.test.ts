import { describe, expect, test } from 'vitest';
import type { Access } from '#access/index.ts';
import type { ConsumerFilter } from '#access/consumers/manage-consumers.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { createFakeClock } from '../../support/clock.ts';
import { origin } from '../support.ts';
import { openWorld } from '../../support/world.ts';

async function setUp() {
  const clock = createFakeClock();
  const { access } = openWorld({ clock });
  const create = async (name: string, days?: number) => {
    await clock.advance(1);
    const lifetime = days !== undefined && { expiresInMs: days * DAY };
    return (await access.consumers.create({ name, ...lifetime }, origin)).consumer;
  };
  return { clock, access, create };
}

async function namesOf(access: Access, filter: ConsumerFilter, limit = 50): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await access.consumers.find({ filter, limit, ...(cursor && { cursor }) });
    pages.push(page.items.map(({ name }) => name));
    cursor = page.pagination.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe('finding consumers', () => {
  test('goes on right behind the last that fits, and finds each once', async () => {
    const { access, create } = await setUp();
    for (let at = 0; at < 25; at += 1) await create(`${at % 5 === 0 ? 'odd' : 'even'} ${at}`);
    // With a space, which no random id has: one may hold the three letters.
    const pages = await namesOf(access, { text: 'ODD ' }, 2);
    expect(pages.flat()).toEqual(['odd 0', 'odd 5', 'odd 10', 'odd 15', 'odd 20']);
    expect(pages.every((page) => page.length <= 2)).toBe(true);
    expect((await namesOf(access, {})).flat()).toHaveLength(25);
  });

  test('looks at names without regard to case and composition, at ids and key ids', async () => {
    const { access, create } = await setUp();
    const { id, keys } = await create('Caf\u00e9 Ö');
    await create('Other');
    for (const text of ['CAFE\u0301', id.slice(3, 20), keys[0]?.keyId ?? ''])
      expect(await namesOf(access, { text })).toEqual([['Café Ö']]);
    expect(await namesOf(access, { text: 'nobody' })).toEqual([[]]);
  });

  test('tells how a consumer stands', async () => {
    const { access, clock, create } = await setUp();
    const rotated = await create('rotated');
    await create('ending', 3);
    await create('active');
    const disabled = await create('disabled', 1);
    const revoked = await create('revoked');
    await access.keys.rotate({ id: rotated.id, overlapMs: HOUR }, origin);
    await access.consumers.update({ id: disabled.id, patch: { state: 'disabled' } }, origin);
    await access.consumers.revoke({ id: revoked.id }, origin);
    const status = async (filter: ConsumerFilter) => (await namesOf(access, filter)).flat();
    expect(await status({ status: 'in-rotation' })).toEqual(['rotated']);
    expect(await status({ status: 'active' })).toEqual(['ending', 'active']);
    expect(await status({ status: 'disabled' })).toEqual(['disabled']);
    expect(await status({ status: 'revoked' })).toEqual(['revoked']);
    expect(await status({ endsWithinDays: 3 })).toEqual(['rotated', 'ending']);
    expect(await status({ endsWithinDays: 2 })).toEqual(['rotated']);
    await clock.advance(3 * DAY);
    expect(await status({ status: 'no-key' })).toEqual(['ending']);
  });
});

describe('replacing grants that others may have changed', () => {
  test('does nothing when they are not as the caller saw them', async () => {
    const { access, create } = await setUp();
    const { id, grants: expected } = await create('one');
    const grants = [{ action: 'leads:read' }];
    await access.consumers.replaceGrants({ id, grants, expected }, origin);
    await expect(
      access.consumers.replaceGrants({ id, grants: [], expected }, origin),
    ).rejects.toMatchObject({ code: 'precondition-failed' });
    expect((await access.consumers.read(id)).grants).toEqual([{ action: 'leads:read' }]);
  });
});
