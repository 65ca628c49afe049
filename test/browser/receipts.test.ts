import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { modes, openIn } from './support/modes.ts';
import {
  axeFindingsInBothSchemes,
  describeInBrowser,
  openAs,
  startSandboxPortal,
} from './support/portal.ts';

const WIDTHS = [320, 1280, 1920];

const WRITES_REFUSED = {
  kind: 'status',
  status: 422,
  json: { message: 'Validation Failed' },
  method: 'PATCH',
  count: 100,
};

type Settings = {
  tracker: { apiUrl: string };
  partners: Record<string, { scheme: string; secrets: ({ value: string } | string)[] }>;
};

/** The sandbox with a partner that deletes leads, and a tracker that refuses on demand. */
async function startWithPartner() {
  const portal = await startSandboxPortal();
  const [, path = ''] = /CONFIG='([^']+)'/.exec(portal.printed()) ?? [];
  const [, leadId = ''] = /"leadId":"(\d+)"/.exec(portal.printed()) ?? [];
  const { tracker, partners } = parse(readFileSync(path, 'utf8')) as Settings;
  const [id, partner] =
    Object.entries(partners).find(([, { scheme }]) => scheme === 'hmac-sha256') ?? [];
  const [first] = partner?.secrets ?? [];
  const secret = (typeof first === 'string' ? first : first?.value) ?? '';
  const control = async (name: string, ...args: unknown[]): Promise<void> => {
    const { status } = await fetch(`${tracker.apiUrl}/_control/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(args),
    });
    expect(status).toBe(200);
  };
  return {
    url: portal.url,
    leadId,
    /** Every write to an issue is understood and refused from now on. */
    refuseWrites: () => control('fault', WRITES_REFUSED),
    acceptWrites: () => control('clearFaults'),
    /** Sends a signed deletion of the lead; the id of its receipt. */
    deleteLead: async (): Promise<string> => {
      const body = JSON.stringify({ eventId: `e-${leadId}`, leadId });
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      const response = await fetch(`${portal.url}/api/v1/webhooks/partners/${id}/deletions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-partner-signature': `sha256=${signature}`,
        },
        body,
      });
      return ((await response.json()) as { id: string }).id;
    },
  };
}

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

describeInBrowser('receipts in the portal', (open) => {
  test.each(modes)('a dead letter is replayed and ends done: %s', async (_mode, mode) => {
    const { url, refuseWrites, acceptWrites, deleteLead } = await startWithPartner();
    const { page, complaints } = await openIn(mode, open);
    await refuseWrites();
    const id = await deleteLead();
    await openAs(page, { url, path: `/portal/receipts/${id}`, person: 'operator' });
    await reloadUntil(page, 'doctor --fix');
    await page.goto(`${url}/portal/receipts`);
    await page.getByLabel('Status').selectOption({ label: 'Failed' });
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('link', { name: id.slice(-8) }).click();
    await acceptWrites();
    await page.getByRole('button', { name: 'Replay 1 event' }).click();
    await page.getByText('1 event queued').waitFor();
    await reloadUntil(page, 'Nothing to do');
    expect(await page.locator('article .badge').first().innerText()).toBe('Done');
    expect(complaints).toEqual([]);
  });

  test.each(modes)('a wrong claim is released by its typed number: %s', async (_mode, mode) => {
    const { url, leadId, deleteLead } = await startWithPartner();
    const { page } = await openIn(mode, open);
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

  test('pages have no finding of axe and scroll nowhere, on a phone and on a wall', async () => {
    const { url, leadId, refuseWrites, deleteLead } = await startWithPartner();
    const { page, complaints } = await open();
    await refuseWrites();
    const id = await deleteLead();
    await openAs(page, { url, path: `/portal/receipts/${id}`, person: 'operator' });
    await reloadUntil(page, 'doctor --fix');
    const paths = [
      '/portal/receipts',
      '/portal/receipts?status=PROCESSED',
      `/portal/receipts/${id}`,
      '/portal/receipts/replay?status=FAILED',
      `/portal/claims/${leadId}`,
      `/portal/claims/${leadId}/release`,
    ];
    for (const path of paths) {
      await page.goto(`${url}${path}`);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect(await axeFindingsInBothSchemes(page)).toEqual([]);
        expect(
          await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'),
        ).toBe(false);
      }
    }
    expect(complaints).toEqual([]);
  }, 180_000);
});
