import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { compose } from '../support/world.ts';
import { listening, trackport } from '../support/process.ts';
import { temporaryFolder } from '../../support/folder.ts';

/** True when nothing sticks out of the window at the right. */
function fitsWidth(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth <= visualViewport.width');
}

const chromium = findChromium();
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
/** A browser and a sandbox start slowly where all tests run at once. */
const TIMEOUT_MS = 180_000;
const NOWHERE = 'http://127.0.0.1:9';

if (chromium === undefined)
  process.stderr.write('No Chromium found (see CHROMIUM_PATH): the tests of pages are skipped.\n');

describe.skipIf(chromium === undefined)('in a browser', { timeout: TIMEOUT_MS }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? '');
  }, TIMEOUT_MS);
  afterAll(() => browser.close());

  test('the docs show every area and make a call, with nothing from elsewhere', async () => {
    const { url, key } = await startSandbox();
    const { page, complaints, origins } = await openPage(browser);
    await page.goto(`${url}/docs`);
    for (const area of ['Leads', 'Partners', 'Catalog', 'Consumers'])
      await page.getByRole('heading', { name: area }).first().waitFor();

    await page.getByRole('button', { name: 'Authorize' }).click();
    const credential = page.locator('.auth-container', { hasText: 'X-API-KEY' });
    await credential.locator('input').fill(key);
    await credential.getByRole('button', { name: 'Apply' }).click();
    await page.locator('.close-modal').click();
    const operation = page.locator('.opblock', { hasText: 'List approved leads' });
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table');
    await answer.getByText('nextCursor').or(answer.getByText('hasMore')).first().waitFor();
    expect(await answer.locator('.response-col_status').last().innerText()).toContain('200');

    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([url]);
  });

  test('the docs open by an address that is not the public one, fit a phone and follow the system into the dark', async () => {
    const server = { publicUrl: 'https://adapter.example.com' };
    const { url } = await compose({ apiUrl: NOWHERE, settings: { server } });
    const { page, complaints, origins } = await openPage(browser, {
      ...PHONE,
      colorScheme: 'dark',
    });
    await page.goto(`${url}/docs`);
    await page.locator('.opblock-summary-control').first().click();
    await page.locator('.opblock-body .responses-table').first().waitFor();
    expect(await fitsWidth(page)).toBe(true);
    const html = page.locator('html');
    expect(await html.getAttribute('class')).toContain('dark-mode');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('html:not(.dark-mode)').waitFor({ state: 'attached' });
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([url]);
  });
});

/** The sandbox as `npm start` runs it. */
async function startSandbox() {
  const run = trackport(['serve', '--port', '0'], { environment: { TMPDIR: temporaryFolder() } });
  const url = await listening(run);
  const banner = run.stdout();
  const trackerUrl = /Tracker:\s+(\S+)/.exec(banner)?.[1] ?? '';
  const key = /X-API-KEY: (\w+)/.exec(banner)?.[1] ?? '';
  return { url, banner, trackerUrl, key };
}
