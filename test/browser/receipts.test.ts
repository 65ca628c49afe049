import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openWorked } from './support/keyboard.ts';
import { startWithPartner } from './support/partner.ts';
import { describeInBrowser, findingsAt, openAs } from './support/portal.ts';

/** Reloads until the page says it: work is done in the background. */
async function reloadUntil(page: Page, text: string): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.reload();
        return page.locator('#verdict').innerText();
      },
      { interval: 100 },
    )
    .toContain(text);
}

describeInBrowser('receipts in the portal', ({ open }) => {
  test('a dead letter is replayed and ends done', async () => {
    const { url, refuseWrites, acceptWrites, deleteLead } = await startWithPartner();
    const { page, complaints } = await openWorked(open);
    await refuseWrites();
    const id = await deleteLead();
    await openAs(page, { url, path: `/portal/receipts/${id}`, person: 'operator' });
    await reloadUntil(page, 'doctor --fix');
    await page.goto(`${url}/portal/receipts`);
    await page.getByLabel('Receipt is').selectOption({ label: 'Failed' });
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('link', { name: id.slice(-8) }).click();
    await acceptWrites();
    await page.getByRole('button', { name: 'Replay 1 event' }).click();
    await page.getByText('1 event queued').waitFor();
    await reloadUntil(page, 'Nothing to do');
    expect(await page.locator('article .badge').first().innerText()).toBe('Done');
    expect(complaints).toEqual([]);
  });

  test('a page of what is under way opens itself again until that has ended', async () => {
    const { url, breakWrites, acceptWrites, deleteLead } = await startWithPartner();
    const { page, complaints } = await open();
    await breakWrites();
    const id = await deleteLead();
    await openAs(page, { url, path: `/portal/receipts/${id}`, person: 'operator' });
    expect(await page.locator('h1 + .badge').innerText()).toBe('Pending');
    const usedUntil = await page.locator('.foot').innerText();
    await acceptWrites();
    await page.getByText('Nothing to do').waitFor();
    expect(await page.locator('h1 + .badge').innerText()).toBe('Done');
    expect(await page.locator('main').getAttribute('data-reload')).toBeNull();
    expect(await page.locator('.foot').innerText()).toBe(usedUntil);
    expect(page.url()).toBe(`${url}/portal/receipts/${id}`);
    expect(complaints).toEqual([]);
  });

  test('a wrong claim is released by its typed number', async () => {
    const { url, leadId, deleteLead } = await startWithPartner();
    const { page } = await openWorked(open);
    const id = await deleteLead();
    await openAs(page, { url, path: `/portal/receipts/${id}`, person: 'operator' });
    await page.getByRole('link', { name: `Release… lead ${leadId}` }).click();
    await page.getByLabel('Type the number of the lead').fill(`${leadId}0`);
    await page.getByRole('button', { name: 'Release lead' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Type the number of the lead').fill(leadId);
    await page.getByRole('button', { name: 'Release lead' }).click();
    await page.getByText(`Lead ${leadId} was released`).waitFor();
    await page.getByRole('link', { name: 'What was done to its claims' }).click();
    await page.waitForURL(/\/portal\/audit/);
    expect(await page.getByRole('row').last().innerText()).toContain('claim.release');
  });

  test('pages have no finding of axe and scroll nowhere, on a phone and on a desk', async () => {
    const { url, leadId, refuseWrites, deleteLead } = await startWithPartner();
    const { page, complaints } = await open();
    await refuseWrites();
    const id = await deleteLead();
    await openAs(page, { url, path: `/portal/receipts/${id}`, person: 'operator' });
    await reloadUntil(page, 'doctor --fix');
    const paths = [
      '/portal/receipts?status=PROCESSED',
      `/portal/receipts/${id}`,
      '/portal/receipts/replay?status=FAILED',
      `/portal/claims/${leadId}`,
      `/portal/claims/${leadId}/release`,
    ];
    expect(
      await findingsAt(
        page,
        paths.map((path) => `${url}${path}`),
      ),
    ).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
