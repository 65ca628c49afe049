/** What `docs/how-to/hubspot.md` shows, against a tracker whose lead names the contact. */
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../../support/eventually.ts';
import { takeBlock } from '../support/documents.ts';
import { freePort } from '../../support/free-port.ts';
import { hasTools, runWell } from '../support/samples.ts';
import { createWorld, environment, leadBody, serve } from '../support/world.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 180_000 });

type Settings = {
  server: { publicUrl: string };
  partners: { hubspot: { deletions: { types: string[] } } };
};

const settings = parse(
  takeBlock('docs/how-to/hubspot.md', 'X-HubSpot-Signature-v3').replace(
    '${HUBSPOT_CLIENT_SECRET}',
    'a-client-secret-of-this-test',
  ),
) as Settings;

test.skipIf(!hasTools('sh', 'curl'))(
  'HubSpot: the call that is printed closes the lead of the contact, and has a receipt',
  async () => {
    const publicUrl = `http://127.0.0.1:${await freePort()}`;
    const server = { ...settings.server, publicUrl, port: Number(new URL(publicUrl).port) };
    const { partners } = settings;
    const leads = { portalAuthors: ['acme-portal[bot]'] };
    const { tracker, config } = await createWorld({ server, partners, leads });
    const block = '\n\n<!-- trackport\nexternalIds: { hubspot: "4711" }\n-->';
    tracker.createIssue({
      title: 'Demo',
      author: 'acme-portal[bot]',
      labels: ['approved'],
      body: `${leadBody('ada@example.com')}${block}`,
    });
    const env = {
      ...environment,
      CONFIG: config,
      HUBSPOT_CLIENT_SECRET: 'a-client-secret-of-ours',
    };
    await serve(config, { port: server.port, environment: env });

    const call = await runWell(takeBlock('docs/how-to/hubspot.md', 'trackport sign'), env);
    expect(JSON.parse(await runWell(call, env))).toMatchObject({ status: 'ACCEPTED' });
    await eventually(() => expect(tracker.readIssue(1)?.state).toBe('closed'));
    const receipts = await runWell(takeBlock('docs/how-to/hubspot.md', 'receipt list'), env);
    expect(receipts).toMatch(/hubspot +contact\.deletion +4711 +PROCESSED +1 DONE/);
  },
);

test('HubSpot: the project file sends the types that delete to the address that takes them', () => {
  const file = JSON.parse(takeBlock('docs/how-to/hubspot.md', '"uid": "webhooks"')) as {
    config: {
      settings: { targetUrl: string };
      subscriptions: Record<string, { subscriptionType: string; active: boolean }[]>;
    };
  };
  const path = '/api/v1/webhooks/partners/hubspot/deletions';
  expect(file.config.settings.targetUrl).toBe(`${settings.server.publicUrl}${path}`);
  const subscriptions = Object.values(file.config.subscriptions).flat();
  const types = subscriptions.map(({ subscriptionType }) => subscriptionType);
  const { types: deleting } = settings.partners.hubspot.deletions;
  expect(types.toSorted()).toEqual([...deleting, 'contact.merge'].toSorted());
  expect(subscriptions.every(({ active }) => active)).toBe(true);
});
