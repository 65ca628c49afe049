import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { modes, openIn } from './support/modes.ts';
import {
  axeFindingsInBothSchemes,
  describeInBrowser,
  openAs,
  startSandboxPortal,
} from './support/portal.ts';

const WIDTHS = [320, 1280];

const scrollsSideways = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');

/** What is wrong with the page that is shown, at both widths and in both schemes. */
async function findingsOn(page: Page): Promise<string[]> {
  const findings: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const found = await axeFindingsInBothSchemes(page);
    if (await scrollsSideways(page)) found.push('scrolls sideways');
    findings.push(...found.map((finding) => `${width}: ${finding}`));
  }
  return findings;
}

/** axe looks at each page four times. */
const SLOW = { timeout: 180_000 };

describeInBrowser('every page outside the catalog', (open) => {
  test.each<[string, string[]]>([
    ['the overview and the time zone', ['', '/time-zone']],
    ['partners', ['/partners']],
    ['receipts and consumers', ['/receipts', '/consumers']],
    ['the audit', ['/audit']],
    [
      'receipts like none there are',
      ['/receipts?outcome=FAILED&from=2020-01-01&to=2020-01-01&by=leadId&id=9999'],
    ],
    ['nobody like this', ['/consumers?q=nobody-is-called-so', '/audit?who=nobody-is-called-so']],
    ['forms and what is confirmed', ['/consumers/new', '/receipts/replay?outcome=FAILED']],
    ['a lead that nothing hides', ['/claims/9999']],
    ['what is not there', ['/nothing', '/consumers/nobody']],
    ['what is asked wrongly', ['/receipts?status=DONE', '/receipts/replay']],
    ['failures before routing', ['/%zz', `/nothing/${'x'.repeat(9000)}`]],
  ])('has no finding of axe on a phone and on a desk: %s', SLOW, async (_name, paths) => {
    const { url } = await startSandboxPortal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal', person: 'owner' });
    for (const path of paths) {
      await page.goto(`${url}/portal${path}`);
      await page.locator('h1').waitFor();
      expect({ path, findings: await findingsOn(page) }).toEqual({ path, findings: [] });
    }
  });

  test('nor a consumer with a key, and what is confirmed about it', SLOW, async () => {
    const { url } = await startSandboxPortal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal/consumers/new', person: 'operator' });
    await page.getByRole('button', { name: 'Create consumer' }).click();
    await page.getByRole('alert').waitFor();
    expect(await findingsOn(page)).toEqual([]);
    await page.getByLabel('Name').fill('Sales cockpit');
    await page.getByRole('button', { name: 'Create consumer' }).click();
    await page.locator('#secret').waitFor();
    expect(await findingsOn(page)).toEqual([]);
    for (const name of [/^Revoke… key/, /^Revoke consumer…/]) {
      await page.getByRole('link', { name }).click();
      await page.locator('.dialog').waitFor();
      expect(await findingsOn(page)).toEqual([]);
      await page.goBack();
    }
  });

  test('nor what a person may not see', SLOW, async () => {
    const { url } = await startSandboxPortal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal', person: 'reader' });
    expect(await findingsOn(page)).toEqual([]);
    await page.goto(`${url}/portal/audit`);
    expect(await page.locator('h1').innerText()).toBe('You may not do this');
    expect(await findingsOn(page)).toEqual([]);
  });
});

describeInBrowser('what is watched', (open) => {
  test.each(modes)('leads from the overview to lists and back: %s', async (_mode, mode) => {
    const { url } = await startSandboxPortal();
    const { page, complaints } = await openIn(mode, open);
    await openAs(page, { url, path: '/portal', person: 'owner' });
    await page.getByText('The same as a table').click();
    await page.getByRole('columnheader', { name: 'Unmatched' }).waitFor();
    await page.getByRole('link', { name: 'Failed receipts' }).click();
    await page.getByRole('link', { name: 'Remove filter: an event is Failed' }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByRole('link', { name: 'Refresh' }).click();
    await page.locator('#verdict').waitFor();
    expect(complaints).toEqual([]);
  });

  test.each(modes)('tells of the partners, each with its receipts: %s', async (_mode, mode) => {
    const { url } = await startSandboxPortal();
    const { page, complaints } = await openIn(mode, open);
    await openAs(page, { url, path: '/portal/partners', person: 'operator' });
    const partner = page.getByRole('rowheader').first().getByRole('link');
    const id = await partner.innerText();
    await partner.click();
    await page.waitForURL(`**/portal/partners#p-${id}`);
    await page.getByRole('link', { name: `failed of ${id}` }).click();
    await page.getByRole('link', { name: `Remove filter: partner ${id}` }).click();
    await page.waitForURL('**/portal/receipts?status=FAILED');
    expect(complaints).toEqual([]);
  });

  test.each(modes)('the audit is filtered, and had as a file: %s', async (_mode, mode) => {
    const { url } = await startSandboxPortal();
    const { page, complaints } = await openIn(mode, open);
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
