import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { modes, openIn } from './support/modes.ts';
import {
  axeFindingsInBothSchemes,
  describeInBrowser,
  openAs,
  startSandboxPortal,
} from './support/portal.ts';

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
  await page.getByLabel('Type').selectOption('API');
  await page.getByLabel('Spec', { exact: true }).fill(spec(['/a', '/b']));
  await press(page, 'Create draft');
  await page.getByText('Draft 1.0.0 was created.').waitFor();
}

async function publish(page: Page, version: string): Promise<void> {
  await page.getByRole('link', { name: `Publish… ${version}` }).click();
  await page.getByText('No findings').waitFor();
  await press(page, `Publish ${version}`);
  await page.getByText(`${version} is published.`).waitFor();
}

describeInBrowser('the catalog in the portal', (open) => {
  test.each(modes)(
    'a draft is published, followed, deprecated with a sunset, compared and retired: %s',
    async (_mode, mode) => {
      const { url } = await startSandboxPortal();
      const { page, complaints } = await openIn(mode, open);
      await openAs(page, { url, path: '/portal/catalog', person: 'owner' });
      await createDraft(page, 'browser-api');
      await publish(page, '1.0.0');

      await page.getByRole('link', { name: 'Create version' }).click();
      await page.getByLabel('Spec', { exact: true }).fill(spec(['/a', '/c']));
      await press(page, 'Create draft');
      await page.getByText('Draft 1.1.0 was created.').waitFor();
      await publish(page, '1.1.0');

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

      await page.getByRole('link', { name: 'Retire… 1.0.0' }).click();
      await page.getByText('Its sunset is ahead').waitFor();
      await page.getByLabel(/^Type the version/).fill('1.0.0');
      await press(page, 'Retire 1.0.0');
      await page.getByText('1.0.0 is retired.').waitFor();
      expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
    },
  );

  test('who may only read is offered nothing else', async () => {
    const { url } = await startSandboxPortal();
    const owner = await open();
    await openAs(owner.page, { url, path: '/portal/catalog', person: 'owner' });
    await createDraft(owner.page, 'browser-api');
    const { page } = await open();
    await openAs(page, { url, path: '/portal/catalog', person: 'reader' });
    expect(await page.getByRole('link', { name: /Create/ }).count()).toBe(0);
    await page.getByRole('table').getByRole('link').first().click();
    await page.getByText('Life of the versions').waitFor();
    expect(await page.getByRole('link', { name: /…|Edit|Create|Make/ }).count()).toBe(0);
  });

  test('every page is without findings of axe', async () => {
    const { url } = await startSandboxPortal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal/catalog', person: 'owner' });
    await createDraft(page, 'browser-api');
    const one = `${url}/portal/catalog/browser-api`;
    const at = (below: string): string => `${one}/versions/1.0.0/${below}`;
    const drafts = [at('edit'), at('publish'), at('delete'), `${url}/portal/catalog/-/new`];
    expect(
      await faultsOf(page, [
        `${url}/portal/catalog`,
        `${url}/portal/catalog?q=nothing`,
        one,
        ...drafts,
      ]),
    ).toEqual([]);
    await page.goto(one);
    await publish(page, '1.0.0');
    await page.getByRole('link', { name: 'Create version' }).click();
    await page.getByLabel('Spec', { exact: true }).fill(spec(['/c']));
    await press(page, 'Create draft');
    expect(
      await faultsOf(page, [`${one}?from=1.0.0&to=1.1.0`, at('deprecate'), at('edit')]),
    ).toEqual([]);
  });
});

/** What axe finds, and what is wider than the window, at a phone's width and at a desk's. */
async function faultsOf(page: Page, addresses: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const address of addresses)
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(address);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      const findings = await axeFindingsInBothSchemes(page);
      if (overflow !== 0) findings.push('wider than the window');
      faults.push(...findings.map((finding) => `${address} ${width} ${finding}`));
    }
  return faults;
}
