import { expect, test } from 'vitest';
import { openWorked } from './support/keyboard.ts';
import { describeInBrowser, findingsAt, findingsOn, openAs } from './support/portal.ts';

/** The overview, and what is of the catalog, of receipts and of consumers, have tests of their own. */
const PATHS = [
  '/partners',
  '/receipts',
  '/receipts?outcome=FAILED&from=2020-01-01&to=2020-01-01&by=leadId&id=9999',
  '/receipts?status=DONE',
  '/receipts/replay',
  '/receipts/replay?outcome=FAILED',
  '/claims/9999',
  '/consumers',
  '/consumers?q=nobody-is-called-so',
  '/consumers/nobody',
  '/audit',
  '/audit?who=nobody-is-called-so',
  '/nothing',
  '/%zz',
  `/nothing/${'x'.repeat(9000)}`,
];

describeInBrowser('every page outside the catalog', ({ open, portal }) => {
  test('has no finding of axe on a phone and on a desk', async () => {
    const { url } = await portal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal', person: 'owner' });
    expect(
      await findingsAt(
        page,
        PATHS.map((path) => `${url}/portal${path}`),
      ),
    ).toEqual([]);
  });

  test('nor a consumer with a key, and what is done with it', async () => {
    const { url } = await portal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal/consumers/new', person: 'operator' });
    expect(await findingsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create consumer' }).click();
    await page.getByRole('alert').waitFor();
    expect(await findingsOn(page)).toEqual([]);
    await page.getByLabel('Name').fill('Sales cockpit');
    await page.getByRole('button', { name: 'Create consumer' }).click();
    await page.locator('#secret').waitFor();
    expect(await findingsOn(page)).toEqual([]);
    const [consumer = ''] = page.url().split('?');
    const links = page.getByRole('link', { name: /^(?:Rotate|Revoke)/ });
    const paths = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(paths).toHaveLength(3);
    const addresses = [consumer, `${consumer}/keys/new`, ...paths.map((path) => `${url}${path}`)];
    expect(await findingsAt(page, addresses)).toEqual([]);
  });

  test('nor what a person may not see', async () => {
    const { url } = await portal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal', person: 'reader' });
    expect(await findingsAt(page, [`${url}/portal`, `${url}/portal/audit`])).toEqual([]);
    expect(await page.locator('h1').innerText()).toBe('You may not do this');
  });
});

describeInBrowser('what is watched', ({ open, portal }) => {
  test('leads from the overview to lists and back', async () => {
    const { url } = await portal();
    const { page, complaints } = await openWorked(open);
    await openAs(page, { url, path: '/portal', person: 'owner' });
    await page.getByText('The same as a table').click();
    await page.getByRole('columnheader', { name: 'Unmatched' }).waitFor();
    expect(await page.getByRole('button', { name: /^Use / }).count()).toBe(0);
    await page.getByRole('link', { name: 'Failed receipts' }).click();
    await page.getByRole('link', { name: 'Remove filter: an event is Failed' }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByRole('link', { name: 'Refresh' }).click();
    await page.locator('#verdict').waitFor();
    expect(complaints).toEqual([]);
  });

  test('tells of the partners, each with its receipts', async () => {
    const { url } = await portal();
    const { page, complaints } = await openWorked(open);
    await openAs(page, { url, path: '/portal/partners', person: 'operator' });
    const partner = page.getByRole('rowheader').first().getByRole('link');
    const id = await partner.innerText();
    await partner.click();
    await page.waitForURL(`**/portal/partners#p-${id}`);
    const address = `${url}/api/v1/webhooks/partners/${id}`;
    for (const path of ['deletions', 'events'])
      expect(await page.locator(`#${id}-${path}`).textContent()).toBe(`${address}/${path}`);
    await page.getByRole('link', { name: `failed of ${id}` }).click();
    await page.getByRole('link', { name: `Remove filter: partner ${id}` }).click();
    await page.waitForURL('**/portal/receipts?status=FAILED');
    expect(complaints).toEqual([]);
  });

  test('the audit is filtered, and had as a file', async () => {
    const { url } = await portal();
    const { page, complaints } = await openWorked(open);
    await openAs(page, { url, path: '/portal/audit', person: 'owner' });
    await page.getByLabel('What').selectOption({ label: 'consumer.create' });
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('link', { name: 'Remove filter: what consumer.create' }).waitFor();
    const file = page.getByRole('link', { name: /CSV/ });
    expect(await file.getAttribute('href')).toContain('what=consumer.create');
    const [download] = await Promise.all([page.waitForEvent('download'), file.click()]);
    expect(download.suggestedFilename()).toBe('trackport-audit.csv');
    await page.getByRole('link', { name: 'Remove filter: what consumer.create' }).click();
    await page.waitForURL('**/portal/audit');
    expect(complaints).toEqual([]);
  });
});
