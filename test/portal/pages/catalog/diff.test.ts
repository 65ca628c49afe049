import { describe, expect, test } from 'vitest';
import type { Change } from '#catalog/diff/changes.ts';
import { diffCard } from '#portal/pages/catalog/artifact-cards.ts';
import { flat } from '../../shell/support.ts';
import { setUp, versionOf } from './support.ts';

const api = (paths: string[]) =>
  JSON.stringify({ openapi: '3.1.0', paths: Object.fromEntries(paths.map((path) => [path, {}])) });

async function withVersions() {
  const portal = setUp();
  await portal.create({ specText: api(['/a', '/b']) });
  await portal.create({ version: '2.0.0', specText: api(['/a', '/c']), owner: 'others' });
  return { ...portal, reader: await portal.signIn(['catalog:read']) };
}

describe('two versions', () => {
  test('are compared by the address, breaking changes first', async () => {
    const { reader } = await withVersions();
    const { status, body } = await reader.get('/portal/catalog/leads?from=1.0.0&to=2.0.0');
    expect(status).toBe(200);
    const page = flat(body);
    const at = (words: string) => page.indexOf(words);
    expect(page).toContain('3 changes from 1.0.0 to 2.0.0');
    expect(page).toContain('1 breaking');
    expect(at('Breaking</span>')).toBeLessThan(at('Compatible</span>'));
    expect(page).toContain('From &quot;team&quot; to &quot;others&quot;');
    expect(page).toMatch(/<option value="1\.0\.0" selected>.*<option value="2\.0\.0" selected>/);
  });

  test('that are not both there are an error', async () => {
    const { reader } = await withVersions();
    expect((await reader.get('/portal/catalog/leads?from=9&to=2.0.0')).status).toBe(404);
    expect((await reader.get('/portal/catalog/leads?to=2.0.0')).status).toBe(400);
  });
});

test('the table of changes is cut', () => {
  const change = {
    path: 'x'.repeat(64_000),
    kind: 'changed',
    impact: 'breaking',
    text: 'x',
  } as const;
  const card = (changes: Change[]) =>
    flat(
      diffCard('leads', {
        versions: [versionOf(), versionOf({ version: '1' })],
        diff: { from: '1', to: '2.3.0', breaking: true, changes, truncated: true },
      }) ?? '',
    );
  const many = card(Array.from({ length: 1000 }, () => change));
  expect(many).toContain('more than 1,000 changes');
  expect(many.length).toBeLessThan(40_000);
});
