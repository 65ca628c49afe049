/** Examples of `docs/how-to/hubspot.md`, against a tracker whose lead names the contact. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { takeBlock } from '../support/documents.ts';
import { freePort } from '../../support/free-port.ts';
import { hasTools, runWell } from '../support/samples.ts';
import { createWorld, leadBody, serve } from '../support/world.ts';
import { openServer } from '../../support/http/local-server.ts';

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

/** HubSpot's journal and its recycle bin, as its documentation has them. */
async function startHubSpot(): Promise<string> {
  return openServer((request, response) => {
    const send = (body: unknown) => void response.end(JSON.stringify(body));
    const target = request.url ?? '';
    const base = `http://${request.headers.host}`;
    if (!target.startsWith('/files/') && request.headers.authorization !== 'Bearer t-1')
      return void response.writeHead(401).end();
    const at = /^\/webhooks-journal\/journal\/2026-03\/(?:earliest|offset\/o-(\d)\/next)$/.exec(
      target,
    );
    if (at) {
      const [, offset = '0'] = at;
      if (offset === '2') return void response.writeHead(204).end();
      const next = Number(offset) + 1;
      return send({ url: `${base}/files/${next}`, expiresAt: '', currentOffset: `o-${next}` });
    }
    const contact = { objectTypeId: '0-1', portalId: 1, occurredAt: new Date().toISOString() };
    if (target === '/files/1')
      return send({ journalEvents: [{ ...contact, action: 'UPDATE', objectId: 4712 }] });
    if (target === '/files/2')
      return send({
        journalEvents: [
          { ...contact, action: 'DELETE', objectId: 4711 },
          { ...contact, action: 'DELETE', objectTypeId: '0-2', objectId: 4712 },
          { ...contact, action: 'GDPR_DELETE', objectId: 4713 },
        ],
      });
    const archivedAt = new Date().toISOString();
    if (target.endsWith('limit=100'))
      return send({
        results: [{ id: '1', archivedAt }],
        paging: { next: { after: '1' } },
      });
    return send({ results: [{ id: '4714', archivedAt }] });
  });
}

test.skipIf(!hasTools('sh', 'node'))(
  'HubSpot: what was missed is brought in from the journal and the recycle bin',
  async () => {
    const { server: _server, partners } = settings;
    const leads = { portalAuthors: ['acme-portal[bot]'] };
    const { tracker, config } = await createWorld({ partners, leads });
    for (const id of ['4711', '4712', '4713', '4714'])
      tracker.createIssue({
        title: id,
        author: 'acme-portal[bot]',
        labels: ['approved'],
        body: `${leadBody(`${id}@example.com`)}\n\n<!-- trackport\nexternalIds: { hubspot: "${id}" }\n-->`,
      });
    await serve(config);
    const folder = temporaryFolder();
    const hubspot = await startHubSpot();
    const save = (name: string, script: string) =>
      writeFileSync(path.join(folder, name), script.replace('https://api.hubapi.com', hubspot));
    save('journal.mjs', takeBlock('docs/how-to/hubspot.md', "// What HubSpot's journal has"));
    save('bin.mjs', takeBlock('docs/how-to/hubspot.md', "// What HubSpot's recycle bin has"));
    const env = { CONFIG: config, HUBSPOT_TOKEN: 't-1', PORTAL_ID: '1' };
    const lines = takeBlock('docs/how-to/hubspot.md', 'node journal.mjs');
    await runWell(`cd '${folder}'\n${lines}`, env);

    const stateOf = (number: number) => tracker.readIssue(number)?.state;
    await eventually(() =>
      expect([1, 2, 3, 4].map(stateOf)).toEqual(['closed', 'open', 'closed', 'closed']),
    );
    expect(tracker.readIssue(3)?.body).not.toContain('4713@example.com'); // for privacy
    const made = readFileSync(path.join(folder, 'missed.jsonl'), 'utf8').trim().split('\n');
    const shown = takeBlock('docs/how-to/hubspot.md', '"eventId": "bin-4711');
    const keysOf = (text = '') => Object.keys(JSON.parse(text) as object);
    expect(made).toHaveLength(4);
    for (const line of made) expect(keysOf(line)).toEqual(keysOf(shown));
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
