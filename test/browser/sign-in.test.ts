import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openWorked } from './support/keyboard.ts';
import { describeInBrowser, findingsAt, openAs, PEOPLE } from './support/portal.ts';
import { openServer } from '../support/http/local-server.ts';

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name }).first();

describeInBrowser('signing in and out', ({ open, portal }) => {
  test('leads to the page that was asked for, and out of the issuer, too', async () => {
    const { url, log } = await portal();
    const { page, complaints } = await openWorked(open);
    await openAs(page, { url, path: '/portal/audit?who=someone', person: 'operator' });
    expect(page.url()).toBe(`${url}/portal/audit?who=someone`);
    const before = await page.context().cookies(url);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign out of the sandbox?').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${url}/portal/signed-out`);
    await page.getByText('You are signed out').waitFor();

    await page.context().addCookies(before);
    await page.goto(`${url}/portal/audit`);
    await page.getByText('Your session ended').waitFor();
    // Signed out there as well: it asks who is there.
    await page.getByRole('link', { name: /^Continue to/ }).click();
    await heading(page, 'Who is there?').waitFor();
    await page.getByRole('button', { name: PEOPLE.reader }).click();
    await heading(page, 'You may not do this').waitFor();

    expect(complaints.filter((text) => !text.includes('403'))).toEqual([]);
    expect(log()).toContain('"msg":"signed in"');
    expect(log()).not.toMatch(/code=|state=|id_token|eyJ/);
  });
});

describeInBrowser('a session', ({ open, portal }) => {
  test('that ends while a form is filled in loses nothing of it', async () => {
    const { url } = await portal();
    const { page } = await openWorked(open);
    await openAs(page, { url, path: '/portal/catalog/-/new', person: 'owner' });
    await page.getByText('Unused, the session ends at').waitFor();
    const id = 'leads-of-a-session';
    const spec = `{"a": "<&${'x'.repeat(20_000)}"}`;
    await page.getByLabel('Id', { exact: true }).fill(id);
    await page.getByLabel('Title').fill('Leads & <more>');
    await page.getByLabel('Owner').fill('team');
    await page.getByLabel('Spec', { exact: true }).fill(spec);
    // The person signs out in another tab.
    const tab = await page.context().newPage();
    await tab.goto(`${url}/portal`);
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await heading(tab, 'Sign out of the sandbox?').waitFor();
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.waitForURL(`${url}/portal/signed-out`);

    await page.getByRole('button', { name: 'Create draft' }).click();
    await page.getByText('Nothing was done: your session ended').waitFor();
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'in another tab' }).click();
    const other = await opened;
    await other.getByRole('button', { name: PEOPLE.owner }).click();
    await other.locator('.foot', { hasText: PEOPLE.owner }).waitFor();
    await page.reload();
    await page
      .getByRole('alert')
      .getByText('Your session ended while you filled this in')
      .waitFor();
    expect(await page.getByLabel('Title').inputValue()).toBe('Leads & <more>');
    await page.getByRole('button', { name: 'Create draft' }).click();
    await page.getByText('Draft 1.0.0 was created.').waitFor();
    const file = await page.request.get(`${url}/portal/catalog/${id}/spec?version=1.0.0`);
    expect(await file.json()).toEqual(JSON.parse(spec));
  });

  test('gives a stolen form nothing, though the browser sends its cookie along', async () => {
    const { url } = await portal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal/consumers/new', person: 'operator' });
    const formToken = await page.locator('input[name=formToken]').first().getAttribute('value');
    // Another port is another origin, but the same site.
    const thief = await openServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(
        `<form method="post" action="${url}/portal/consumers/new"><input name="formToken" value="${formToken}">
         <input name="name" value="Thief"><button>Win</button></form>`,
      ),
    );
    await page.goto(thief);
    await page.getByRole('button', { name: 'Win' }).click();
    await heading(page, 'This form came from elsewhere').waitFor();
    await page.goto(`${url}/portal/consumers?q=Thief`);
    expect(await page.getByText('Nobody like this').count()).toBe(1);
  });
});

describeInBrowser('the pages of sign-in', ({ open, portal }) => {
  test('have no findings of axe, in both schemes', async () => {
    const { url } = await portal();
    const { page } = await open();
    const at = (...paths: string[]) => paths.map((path) => `${url}/portal/${path}`);
    const outside = at('sign-in', 'sign-in?to=/portal/audit', 'signed-out', 'callback', 'nothing');
    expect(await findingsAt(page, outside)).toEqual([]);
    await openAs(page, { url, path: '/portal', person: 'reader' });
    expect(await findingsAt(page, at('nothing'))).toEqual([]);
  });
});
