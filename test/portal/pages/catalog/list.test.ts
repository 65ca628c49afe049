import { createVersion } from '#catalog/version/write-version.ts';
import { describe, expect, test } from 'vitest';
import { origin, setUp } from './support.ts';

describe('the list of the catalog', () => {
  test('shows what the person’s workspace has, and nothing of another', async () => {
    const { signIn, create, catalog, draft } = setUp();
    await create();
    const others = draft({ id: 'secret', title: 'Of others' });
    await createVersion(catalog, { ...origin, workspaceId: 'other' }, others);
    const { status, body } = await (await signIn(['catalog:read'])).get('/portal/catalog');
    expect(status).toBe(200);
    expect(body).toContain('/portal/catalog/leads');
    expect(body).not.toContain('/-/new');
    expect(body).not.toContain('Of others');
  });

  test('is filtered by every filter in its address', async () => {
    const { signIn, create } = setUp();
    await create({ groupPath: 'sales/leads', projectId: 'p1' });
    await create({ id: 'events', type: 'EVENT', owner: 'other', title: 'Events', source: 'GIT' });
    const reader = await signIn(['catalog:read']);
    const addresses = [
      'q=leads',
      'type=API',
      'owner=team',
      'groupPath=sales',
      'source=INLINE',
      'projectId=p1',
      'lifecycle=DRAFT&owner=team&versions=all',
    ];
    const shown = addresses.map(async (address) => {
      const { body } = await reader.get(`/portal/catalog?${address}`);
      const links = body.matchAll(/href="\/portal\/catalog\/(\w+)/g);
      return [address, ...new Set(Array.from(links, ([, id]) => id))];
    });
    expect(await Promise.all(shown)).toEqual(addresses.map((address) => [address, 'leads']));
    expect((await reader.get('/portal/catalog?lifecycle=RETIRED')).body).toContain('Nothing like');
    expect((await reader.get('/portal/catalog?q=&type=&lifecycle=')).body).toContain('Events');
  });

  test('counts the findings of drafts', async () => {
    const { signIn, create } = setUp();
    await create({ specText: '{"openapi":"3.1.0"}' });
    const reader = await signIn(['catalog:read']);
    expect((await reader.get('/portal/catalog')).body).toMatch(/\d+ findings?</);
    expect((await reader.get('/portal/catalog/leads')).body).toMatch(/#h-findings"[^>]*>\d/);
  });

  test('has pages', async () => {
    const { signIn, create } = setUp();
    for (let at = 0; at < 51; at += 1) await create({ id: `a-${at}` });
    const reader = await signIn(['catalog:read']);
    const first = (await reader.get('/portal/catalog?owner=team')).body;
    expect(first).not.toContain('/portal/catalog/a-0"');
    const next = /href="([^"]*cursor=[^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect((await reader.get(next)).body).toContain('/portal/catalog/a-0"');
  });

  test('says what is wrong with a search, and refuses words that are not known', async () => {
    const { signIn } = setUp();
    const reader = await signIn(['catalog:read']);
    const search = await reader.get('/portal/catalog?q=!!!');
    expect(search.status).toBe(422);
    expect(search.body).toContain('Search for 1 to 16 words');
    expect(search.body).toContain('value="!!!"');
    const word = await reader.get('/portal/catalog?type=NOVEL&owner=team-a');
    expect(word.status).toBe(400);
    expect(word.body).toContain('<p class="error" id="type-error">');
    expect(word.body).toContain('value="team-a"');
  });
});
