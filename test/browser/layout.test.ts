/** Shown by a layout alone: what is cut off, which letters, where the focus is, and what *Back* brings. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { MINUTE } from '#shared/clock.ts';
import { eventually } from '../support/eventually.ts';
import { startWithPartner } from './support/partner.ts';
import { describeInBrowser, findingsAt, findingsOn, openAs } from './support/portal.ts';

const LONG = 'x'.repeat(150);

/** Elements that stand out of their box at the right: tables, and the contents of their cells. */
const cutOff = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.table')].flatMap((box) => {
    const end = box.getBoundingClientRect().right + 1;
    const out = [...box.querySelectorAll('td *, th *')].filter(
      (one) => one.checkVisibility() && !one.closest('.vh') && one.getBoundingClientRect().right > end,
    );
    return box.scrollWidth > box.clientWidth + 1 || out.length > 0 ? [box.innerText.slice(0, 60)] : [];
  })`);

async function createConsumer(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create consumer' }).click();
  await page.locator('#secret').waitFor();
}

/** The page of an artifact whose one version has all that can be done about one. */
async function createDeprecated(page: Page, url: string): Promise<string> {
  const press = (name: string): Promise<void> => page.getByRole('button', { name }).click();
  await page.goto(`${url}/portal/catalog/-/new`);
  for (const name of ['Id', 'Title', 'Owner'])
    await page.getByLabel(name, { exact: true }).fill('a');
  await page.getByLabel('Type').selectOption('API');
  await press('Create draft');
  await page.getByRole('link', { name: 'Publish… 1.0.0' }).click();
  await press('Publish 1.0.0');
  await page.getByRole('link', { name: 'Deprecate… 1.0.0' }).click();
  await page.getByLabel(/^Sunset/).fill('2099-06-01');
  await press('Deprecate 1.0.0');
  await page.getByRole('link', { name: 'Retire… 1.0.0' }).waitFor();
  return '/portal/catalog/a';
}

/** Counts the lines of the first action of a table, and of the first id of a request. */
const LINES = `['td[data-l="What"] code', 'td a[href*="request="] code'].map((code) => {
  const pieces = [...document.querySelector(code).getClientRects()];
  return new Set(pieces.map(({ top }) => top)).size;
})`;

/** Fields too narrow for a day with its time, or an id, by their names. */
const CUT_FIELDS = `[...document.querySelectorAll('.filters [type=datetime-local], .filters .grow input')]
  .filter((one) => one.clientWidth < 190)
  .map((one) => one.name)`;

describeInBrowser('the layout', ({ open, portal }) => {
  test('cuts nothing off, on a phone, a tablet and a desk', async () => {
    const { url, deleteLead } = await startWithPartner();
    const receipt = await deleteLead();
    const { page } = await open();
    await openAs(page, { url, path: '/portal/consumers/new', person: 'owner' });
    await createConsumer(page, LONG);
    const consumer = new URL(page.url()).pathname;
    const paths = ['audit', 'receipts', `receipts/${receipt}`, 'partners'].map(
      (one) => `/portal/${one}`,
    );
    const artifact = await createDeprecated(page, url);
    for (const path of [...paths, consumer, artifact]) {
      await page.goto(`${url}${path}`);
      for (const width of [360, 768, 1024, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        expect({ path, width, cut: await cutOff(page) }).toEqual({ path, width, cut: [] });
      }
    }
    expect(await findingsOn(page)).toEqual([]);
  });

  test('breaks what somebody wrote without a blank, on a phone', async () => {
    const { url } = await portal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal/catalog/-/new', person: 'owner' });
    const id = 'l'.repeat(128);
    const version = `1.0.0-${'x'.repeat(58)}`;
    const fields = { Id: id, Version: version, Title: LONG, Owner: LONG };
    for (const [name, text] of Object.entries(fields))
      await page.getByLabel(name, { exact: true }).fill(text);
    await page.getByLabel('Type').selectOption('API');
    await page.getByRole('button', { name: 'Create draft' }).click();
    await page.getByText(`Draft ${version} was created.`).waitFor();
    const findings = await findingsOn(page);
    const below = ['edit', 'publish', 'delete'].map((step) => `/${id}/versions/${version}/${step}`);
    const paths = [...below, `?q=${LONG}&owner=${LONG}`].map((path) => `/portal/catalog${path}`);
    findings.push(
      ...(await findingsAt(
        page,
        paths.map((path) => `${url}${path}`),
      )),
    );
    expect(findings).toEqual([]);
  });

  test('breaks no word of an action and no id of a request, and shows filters of days with their time', async () => {
    const { url, deleteLead } = await startWithPartner();
    await deleteLead();
    const { page } = await open();
    await openAs(page, { url, path: '/portal/consumers/new', person: 'owner' });
    await createConsumer(page, LONG);
    for (const path of ['audit', 'receipts'])
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${url}/portal/${path}`);
        await page.evaluate("document.querySelector('details.fold').open = true");
        const cut = await page.evaluate<string[]>(CUT_FIELDS);
        expect({ path, width, cut }).toEqual({ path, width, cut: [] });
      }
    await page.goto(`${url}/portal/audit`);
    const [action, request] = await page.evaluate<number[]>(LINES);
    expect(action).toBeLessThanOrEqual(2); // `consumer.create` may break at its dot
    expect(request).toBe(1);
  });

  test('hides what is hidden, shows code as code, and leads to what is wrong', async () => {
    const { url } = await portal();
    const { page } = await open({ javaScriptEnabled: false });
    await openAs(page, { url, path: '/portal/catalog/-/new', person: 'owner' });
    await page.locator('.foot form[hidden]').waitFor({ state: 'hidden' });
    const font = (selector: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).fontFamily`);
    expect(await font('#spec')).toMatch(/monospace/);
    expect(await font('#description')).not.toMatch(/monospace/);
    await page.getByRole('button', { name: 'Create draft' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').evaluate((one) => one.matches(':focus'))).toBe(true);
  });
});

describeInBrowser('what script adds', ({ open, portal }) => {
  test('is a spec from a file, and filters that are folded on a phone alone', async () => {
    const { url } = await portal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal/catalog/-/new', person: 'owner' });
    const file = { name: 'a.yaml', mimeType: 'text/yaml', buffer: Buffer.from('openapi: 3.1.0\n') };
    await page.getByLabel('Spec from a file').setInputFiles(file);
    await eventually(async () =>
      expect(await page.locator('#spec').inputValue()).toBe('openapi: 3.1.0\n'),
    );
    for (const [width, isOpen] of [
      [360, false],
      [1280, true],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${url}/portal/audit`);
      expect(await page.getByLabel('Who').isVisible()).toBe(isOpen);
    }
  });
});

describeInBrowser('the end of a session', ({ open, portal }) => {
  test('is announced five minutes before', async () => {
    const { url } = await portal();
    const { page } = await open();
    await page.clock.install();
    await openAs(page, { url, path: '/portal/catalog/-/new', person: 'owner' });
    const warning = page.locator('[data-ends]');
    const leftMs = Number(await warning.getAttribute('data-ends')) - Date.now();
    await page.clock.fastForward(leftMs - 6 * MINUTE);
    expect(await warning.isVisible()).toBe(false);
    await page.clock.fastForward(2 * MINUTE);
    await warning.getByText('Your session ends within five minutes').waitFor();
  });
});

describeInBrowser(
  'a key that is shown once',
  ({ open, portal }) => {
    test.each([true, false])(
      'does not come back by Back, with script: %s',
      async (javaScriptEnabled) => {
        const { page } = await open({ javaScriptEnabled });
        const { url } = await portal();
        await openAs(page, { url, path: '/portal/consumers', person: 'owner' });
        await page.goto(`${url}/portal/consumers/new`);
        const name = `Sales cockpit, ${javaScriptEnabled}`;
        await createConsumer(page, name);
        await page.getByRole('link', { name: 'Audit', exact: true }).click();
        await page.waitForURL('**/portal/audit');
        // Playwright waits for a load that a page from memory does not have.
        await page.goBack({ timeout: 300 }).catch(() => undefined);
        await page.getByRole('heading', { name }).waitFor();
        expect(await page.content()).not.toContain('tpk_');
        // Other pages do come from memory here: this browser keeps them.
        await page.goto(`${url}/portal/receipts`);
        await page.evaluate('globalThis.isKept = true');
        await page.getByRole('link', { name: 'Partners' }).first().click();
        await page.waitForURL('**/portal/partners');
        await page.goBack({ timeout: 300 }).catch(() => undefined);
        await page.getByRole('heading', { name: 'Receipts' }).waitFor();
        expect(await page.evaluate('globalThis.isKept')).toBe(true);
      },
    );
  },
  { keepsPages: true },
);
