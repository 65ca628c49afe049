import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openWorked } from './support/keyboard.ts';
import { describeInBrowser, findingsAt, findingsOn, openAs } from './support/portal.ts';

const spec = (paths: string[]): string =>
  [
    'openapi: 3.1.0',
    'info: { title: Browser API, version: 1.0.0 }',
    'paths:',
    ...paths.map((path) => `  ${path}: { get: { responses: { "200": { description: ok } } } }`),
  ].join('\n');

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name }).click();

async function createDraft(page: Page, id: string): Promise<void> {
  await page.getByRole('link', { name: 'Create draft' }).first().click();
  await page.getByLabel('Id', { exact: true }).fill(id);
  await page.getByLabel('Title').fill('Browser API');
  await page.getByLabel('Owner').fill('team-browser');
  await page.getByLabel('Spec', { exact: true }).fill(spec(['/a', '/b']));
  await page.getByLabel('Type').selectOption('API');
  await press(page, 'Create draft');
  await page.getByText('Draft 1.0.0 was created.').waitFor();
}

/** `breaking`: what stands there in place of the word that nothing was found. */
async function publish(page: Page, version: string, breaking?: string): Promise<void> {
  await page.getByRole('link', { name: `Publish… ${version}` }).click();
  await page.getByText(breaking ?? 'No findings').waitFor();
  if (breaking !== undefined) expect(await page.getByText('No findings').count()).toBe(0);
  await press(page, `Publish ${version}`);
  await page.getByText(`${version} is published.`).waitFor();
}

describeInBrowser('the catalog in the portal', ({ open, portal }) => {
  test('a draft is published, followed, deprecated with a sunset, compared and retired', async () => {
    const { url } = await portal();
    const { page, complaints } = await openWorked(open);
    await openAs(page, { url, path: '/portal/catalog', person: 'owner' });
    await createDraft(page, 'life');
    await publish(page, '1.0.0');

    await page.getByRole('link', { name: 'Create version' }).click();
    await page.getByLabel('Spec', { exact: true }).fill(spec(['/a', '/c']));
    await press(page, 'Create draft');
    await page.getByText('Draft 1.1.0 was created.').waitFor();
    await page.getByRole('link', { name: 'Publish… 1.1.0' }).click();
    await page.getByText('1 breaking change against 1.0.0').waitFor();
    await press(page, 'Publish 1.1.0');
    await page.getByText('1.1.0 is published.').waitFor();

    await page.getByRole('link', { name: 'Deprecate… 1.0.0' }).click();
    await page.getByText('Its successor is 1.1.0').waitFor();
    await page.getByLabel(/^Sunset/).fill('2020-01-01');
    await press(page, 'Deprecate 1.0.0');
    await page.getByRole('alert').waitFor();
    await page.getByLabel(/^Sunset/).fill('2099-06-01');
    await press(page, 'Deprecate 1.0.0');
    await page.getByText('1.0.0 is deprecated, until').waitFor();

    await page.getByLabel('From').selectOption('1.0.0');
    await page.getByLabel('To', { exact: true }).selectOption('1.1.0');
    await press(page, 'Compare');
    await page.waitForURL(/from=1\.0\.0/);
    const changes = page.getByRole('table', { name: /^Changes from 1\.0\.0 to 1\.1\.0/ });
    expect(await changes.locator('tbody th').allInnerTexts()).toEqual(['Breaking', 'Compatible']);

    await press(page, 'Make default 1.0.0');
    await page.getByText('1.0.0 is the default now.').waitFor();
    await page.getByRole('link', { name: 'Unset default… 1.0.0' }).click();
    await page.getByText('get 1.1.0 from now on').waitFor();
    await press(page, 'Unset default');
    await page.getByText('No version is set as the default now. It is 1.1.0.').waitFor();

    await page.getByRole('link', { name: 'Retire… 1.0.0' }).click();
    await page.getByText('Its sunset is ahead').waitFor();
    await page.getByLabel(/^Type the version/).fill('1.0.0');
    await press(page, 'Retire 1.0.0');
    await page
      .getByRole('alert')
      .getByRole('link', { name: /^Its sunset is ahead/ })
      .click();
    await page.getByLabel('Retire it before its sunset').check();
    await page.getByLabel(/^Type the version/).fill('1.0.0');
    await press(page, 'Retire 1.0.0');
    await page.getByText('1.0.0 is retired.').waitFor();
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
  });

  test('a draft with a mistake is mended, described, reinstated and deleted', async () => {
    const { url } = await portal();
    const { page, complaints } = await openWorked(open);
    await openAs(page, { url, path: '/portal/catalog', person: 'owner' });
    await createDraft(page, 'mended');
    await page.getByRole('link', { name: 'Edit 1.0.0' }).click();
    await page.getByLabel('Title').fill('');
    await page.getByLabel('Members').fill('mended\nbrowser-list');
    await press(page, 'Save draft');
    await page
      .getByRole('alert')
      .getByRole('link', { name: /^Title/ })
      .click();
    await page.getByLabel('Title').fill('Mended API');
    await press(page, 'Save draft');
    await page.getByText('Draft 1.0.0 was saved.').waitFor();
    await publish(page, '1.0.0');

    await page.getByRole('link', { name: 'Edit 1.0.0' }).click();
    await page.getByLabel('Owner').fill('team-other');
    await press(page, 'Save');
    await page.getByText('The changes were saved.').waitFor();

    await page.getByRole('link', { name: 'Deprecate… 1.0.0' }).click();
    await press(page, 'Deprecate 1.0.0');
    await press(page, 'Reinstate 1.0.0');
    await page.getByText('1.0.0 is published again.').waitFor();

    await page.getByRole('link', { name: 'Create version' }).click();
    await press(page, 'Create draft');
    await page.getByRole('link', { name: 'Delete… 1.1.0' }).click();
    await page.getByLabel(/^Type the version/).fill('1.0.0');
    await press(page, 'Delete draft 1.1.0');
    await page.getByRole('alert').waitFor();
    await page.getByLabel(/^Type the version/).fill('1.1.0');
    await press(page, 'Delete draft 1.1.0');
    await page.getByText('Draft 1.1.0 was deleted.').waitFor();
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
  });

  test('every page is without findings of axe', async () => {
    const { url, printed } = await portal();
    const { page } = await open();
    const list = `${url}/portal/catalog`;
    await openAs(page, { url, path: '/portal/catalog', person: 'owner' });
    await createDraft(page, 'browser-list');
    await publish(page, '1.0.0');
    await page.goto(list);
    await createDraft(page, 'browser-api');
    const one = `${list}/browser-api`;
    const at = (below: string, version = '1.0.0'): string => `${one}/versions/${version}/${below}`;
    const drafts = [at('edit'), at('publish'), at('delete'), `${list}/-/new`];
    const asked = [list, `${list}?q=nothing`, `${list}?q=-`, `${list}?type=NONE`];
    const absent = [`${list}/none`, at('edit', '9'), `${list}?nonsense=1`];
    const before = await findingsAt(page, [...asked, ...absent, one, ...drafts]);
    expect(before).toEqual([]);

    await page.goto(at('edit'));
    await page.getByLabel('Title').fill('');
    await page.getByLabel('Members').fill('- browser-list');
    await page.getByLabel('Spec', { exact: true }).fill('x'.repeat(30_000));
    await press(page, 'Save draft');
    expect(await findingsOn(page)).toEqual([]);
    await page.goto(at('delete'));
    await press(page, 'Delete draft 1.0.0');
    expect(await findingsOn(page)).toEqual([]);
    await page.goto(at('edit'));
    await page.getByLabel('Members').fill('browser-list');
    await press(page, 'Save draft');
    await publish(page, '1.0.0');
    expect(await findingsOn(page)).toEqual([]);
    await page.getByRole('link', { name: 'Create version' }).click();
    await page.getByLabel('Spec', { exact: true }).fill(spec(['/c']));
    await press(page, 'Create draft');
    await publish(page, '1.1.0', 'breaking changes against');
    await page.goto(at('deprecate'));
    await press(page, 'Deprecate 1.0.0');
    await press(page, 'Make default 1.0.0');
    const key = /tpk_\w+/.exec(printed())?.[0] ?? '';
    const read = await fetch(`${url}/api/v1/catalog/browser-api`, {
      headers: { 'x-api-key': key },
    });
    expect(read.status).toBe(200);
    await page.goto(at('retire'));
    await page.getByText('1 reader in the last 30 days').waitFor();
    await page.goto(one);
    await page.getByRole('img', { name: '1.0.0, deprecated: 1 read by 1 reader' }).waitFor();
    const ends = [at('deprecate'), at('retire'), at('unset-default'), at('edit')];
    const after = [
      `${one}?from=1.0.0&to=1.1.0`,
      `${list}?versions=all`,
      `${list}/browser-list`,
      ...ends,
    ];
    expect(await findingsAt(page, after)).toEqual([]);
  });
});
