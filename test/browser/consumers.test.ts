import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openWorked } from './support/keyboard.ts';
import { describeInBrowser, openAs, startSandboxPortal } from './support/portal.ts';

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name }).click();

/** Status and number of leads that a key reads. */
async function readLeads(url: string, key: string): Promise<{ status: number; leads?: number }> {
  const response = await fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  const { items } = (await response.json()) as { items?: unknown[] };
  return { status: response.status, ...(items && { leads: items.length }) };
}

/** Creates a consumer that sees all leads, and gives its first key, which is shown once. */
async function createConsumer(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Create consumer' }).first().click();
  await page.getByLabel('Name').fill('Sales cockpit');
  await page.getByLabel('all of them').check();
  await press(page, 'Create consumer');
  return shownKey(page);
}

async function shownKey(page: Page): Promise<string> {
  await page.getByText('Keep this key in a safe place now').waitFor();
  return (await page.locator('#secret').innerText()).trim();
}

/** Output of a command after it asked for the key. */
async function inShell(command: string, key: string): Promise<string> {
  const shell = spawn('sh', ['-c', command], { stdio: ['pipe', 'pipe', 'inherit'] });
  shell.stdin.end(`${key}\n`);
  return (await text(shell.stdout)).replace(/^Key: /, '');
}

/** A label that some of the leads carry, and others do not. */
async function labelOfSomeLeads(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  const { items } = (await response.json()) as { items: { labels: string[] }[] };
  const carriers = (label: string): number =>
    items.filter(({ labels }) => labels.includes(label)).length;
  const some = items
    .flatMap(({ labels }) => labels)
    .find((label) => label !== 'approved' && carriers(label) < items.length);
  if (some === undefined) throw new Error('all leads carry the same labels');
  return some;
}

describeInBrowser('consumers in the portal', ({ open }) => {
  test('a consumer is created, reads, is rotated, revoked and refused; the audit tells it all', async () => {
    const { url, log } = await startSandboxPortal();
    const { page, complaints } = await openWorked(open);
    await openAs(page, { url, path: '/portal/consumers', person: 'operator' });
    const key = await createConsumer(page);
    const consumer = page.url().split('?')[0] ?? '';
    expect((await readLeads(url, key)).status).toBe(200);
    const command = (await page.locator('details pre').textContent()) ?? '';
    expect(JSON.parse(await inShell(command, key))).toMatchObject({
      items: expect.any(Array),
    });

    await page.reload();
    expect(await page.getByText(key).count()).toBe(0);
    await page.getByRole('link', { name: 'Rotate' }).click();
    await page.getByLabel('The old key stays good').selectOption({ label: '1 hour' });
    await press(page, 'Rotate key');
    const next = await shownKey(page);
    expect([(await readLeads(url, key)).status, (await readLeads(url, next)).status]).toEqual([
      200, 200,
    ]);

    await page
      .getByRole('link', { name: /^Revoke… key/ })
      .last()
      .click();
    const [, oldId = ''] = /^tpk_(\w{12})_/.exec(key) ?? [];
    await page.getByLabel('Type the id of the key').fill('not this one');
    await press(page, 'Revoke key');
    await page.getByRole('alert').waitFor();
    expect((await readLeads(url, key)).status).toBe(200);
    await page.getByLabel('Type the id of the key').fill(oldId);
    await press(page, 'Revoke key');
    await page.getByText('The key was revoked.').waitFor();
    expect([(await readLeads(url, key)).status, (await readLeads(url, next)).status]).toEqual([
      401, 200,
    ]);

    await page.getByRole('link', { name: 'Revoke consumer…' }).click();
    await page.getByLabel(/^Type the name/).fill('Sales cockpit');
    await press(page, 'Revoke consumer');
    await page.getByText('The consumer was revoked.').waitFor();
    expect((await readLeads(url, next)).status).toBe(401);

    await page.getByRole('link', { name: 'All changes' }).click();
    await page.waitForURL(/\/portal\/audit/);
    const rows = await page.getByRole('table').locator('tbody tr').allInnerTexts();
    const actions = rows.map((row) => /\b(?:consumer|key)\.\w+/.exec(row)?.[0]);
    expect(actions).toEqual(['consumer.revoke', 'key.revoke', 'key.rotate', 'consumer.create']);
    expect(rows.every((row) => row.includes('portal'))).toBe(true);
    expect(consumer).toContain('/portal/consumers/');
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
    expect(log()).not.toMatch(/tpk_|Sales cockpit/);
  });

  test('grants by label narrow what a key reads, at once', async () => {
    const { url } = await startSandboxPortal();
    const { page } = await open();
    await openAs(page, { url, path: '/portal/consumers', person: 'operator' });
    const key = await createConsumer(page);
    const all = (await readLeads(url, key)).leads ?? 0;
    const label = await labelOfSomeLeads(url, key);
    await page.getByRole('link', { name: 'I have stored it' }).click();
    await page.getByLabel('those with labels').check();
    await page.getByLabel(label, { exact: true }).check();
    await press(page, 'Save grants');
    await page.getByText('The grants were saved.').waitFor();
    const some = (await readLeads(url, key)).leads ?? 0;
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(all);
    await page.getByLabel('none').check();
    await press(page, 'Save grants');
    await page.getByText('The grants were saved.').waitFor();
    expect((await readLeads(url, key)).status).toBe(403);
  });
});
