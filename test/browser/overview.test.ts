import type { Response } from 'playwright-core';
import { expect, test } from 'vitest';
import { HOUR } from '#shared/clock.ts';
import {
  describeInBrowser,
  findingsOn,
  openAs,
  signInAs,
  WITHOUT_SCRIPT,
} from './support/portal.ts';

const WIDTHS = [320, 1280, 1920];
const BYTES_MAX = 50_000;

describeInBrowser('the overview', ({ open, portal }) => {
  test('has no finding of axe and scrolls nowhere, on a phone, a desk and a wall', async () => {
    const { url } = await portal();
    const { page, complaints } = await open();
    await openAs(page, { url, path: '/portal', person: 'owner' });
    expect(await page.locator('h1').innerText()).toBe('Overview');
    await page.getByText('The same as a table').click();
    expect(await findingsOn(page, WIDTHS)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('comes whole with less than 50 KB, and from this service alone', async () => {
    const { url } = await portal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal', person: 'owner' });
    await page.waitForLoadState('networkidle'); // what is under way cannot be read after the reload
    const responses: Response[] = [];
    page.on('response', (response) => responses.push(response));
    await page.reload({ waitUntil: 'networkidle' });
    for (const response of responses) expect(new URL(response.url()).origin).toBe(url);
    const bodies = await Promise.all(responses.map((response) => response.body()));
    expect(bodies.length).toBeGreaterThan(0);
    expect(bodies.reduce((sum, body) => sum + body.length, 0)).toBeLessThan(BYTES_MAX);
  });

  test('leads a keyboard past the navigation to the content first', async () => {
    const { url } = await portal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal', person: 'reader' });
    await page.reload();
    const focused = () => page.evaluate<string>('document.activeElement.innerText');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Refresh');
  });

  test('shows times in the zone of the browser, the exact UTC behind them, and UTC without script', async () => {
    const { url } = await portal();
    const { page } = await open({ timezoneId: 'Asia/Tokyo' });
    await openAs(page, { url, path: '/portal', person: 'owner' });
    await page.getByText('Times in Asia/Tokyo').waitFor();
    const [text = '', utc = ''] = await page
      .locator('.meta time')
      .evaluate((time) => [time.textContent, time.title]);
    const tokyo = new Date(Date.parse(utc.replace(' UTC', 'Z').replace(' ', 'T')) + 9 * HOUR);
    expect(text).toContain(tokyo.toISOString().slice(11, 19));

    const { page: plain } = await open({ ...WITHOUT_SCRIPT, timezoneId: 'Asia/Tokyo' });
    await openAs(plain, { url, path: '/portal', person: 'owner' });
    await plain.getByText('Times in UTC').waitFor();
  });
});

describeInBrowser('pages outside the portal', ({ open, portal }) => {
  test('have no finding of axe, and the first one leads to the portal', async () => {
    const { url } = await portal();
    const { page, complaints } = await open();
    for (const path of ['/problems/not-found', '/problems', '/']) {
      await page.goto(`${url}${path}`);
      expect(await findingsOn(page)).toEqual([]);
    }
    expect(complaints).toEqual([]);
    await page.getByRole('link', { name: 'Portal' }).click();
    await signInAs(page, 'reader');
    expect(await page.locator('h1').innerText()).toBe('Overview');
  });
});
