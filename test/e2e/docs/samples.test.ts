/** Short samples of the documents, run as they stand there against one sandbox. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { takeBlock } from '../support/documents.ts';
import { hasTools, shareSampleSandbox, runLines, runWell } from '../support/samples.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 180_000 });

const shared = shareSampleSandbox();

const canCall = hasTools('sh', 'curl', 'openssl');

/** Ids, keys and times differ each time. */
const normalize = (text: string): string =>
  text
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID')
    .replaceAll(/tpk_\S+/g, 'KEY')
    .replaceAll(/"keyId":"\w+"/g, '"keyId":"KEY"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');

/** The command of a session, and what it printed. */
function sessionOf(block: string): { command: string; printed: string } {
  const [first = '', ...rest] = block.split('\n');
  return { command: first.replace(/^\$ /, ''), printed: rest.join('\n') };
}

test.skipIf(!canCall)('partners: both schemes by hand', async () => {
  const env = await shared();
  expect(await runWell(takeBlock('docs/partners.md', 'openssl dgst'), env)).toMatch(
    /^HTTP\/1\.1 202 /,
  );
  const file = path.join(temporaryFolder(), 'sample.mjs');
  writeFileSync(file, takeBlock('docs/partners.md', 'await fetch(address'));
  const { stdout } = spawnSync(process.execPath, [file], { encoding: 'utf8', env });
  expect(stdout).toMatch(/^202 \{/);
});

test.skipIf(!canCall)('partners: the status address shows what the document shows', async () => {
  const env = await shared();
  const { command, printed } = sessionOf(takeBlock('docs/partners.md', '/receipt-status/DhJ9…'));
  const body = '[{"subscriptionType":"contact.deletion","eventId":3816279340,"objectId":4711}]';
  const sign = `trackport sign --partner crm-two --curl --config "$CONFIG" --body '${body}'`;
  const accepted = await runWell((await runWell(sign, env)).replace('curl ', 'curl -i '), env);
  const [, address = ''] = /^location: (\S+)/im.exec(accepted) ?? [];
  const status = new URL(address, env['URL']).href;
  const look = command.replace(/https:\S+/, status);
  const wanted = JSON.parse(printed) as { events: object[] };
  const shown = await eventually(async () => {
    const now = JSON.parse(await runWell(look, env)) as { status: string; events: object[] };
    expect(now.status).toBe('PROCESSED');
    return now;
  });
  expect(Object.keys(shown)).toEqual(Object.keys(wanted));
  // Closing an issue erases nothing, which an event with other actions says by `erasure`.
  expect({ erasure: '', ...shown.events[0] }).toEqual({
    ...wanted.events[0],
    erasure: '',
    completedAt: expect.any(String),
  });
});

test.skipIf(!canCall)('identity: a token, and a call with it', async () => {
  const env = await shared();
  const out = await runWell(takeBlock('docs/how-to/identity.md', 'TOKEN='), env);
  expect(JSON.parse(out)).toMatchObject({ items: expect.any(Array) });
});

test('consumers: a new key is shown, and says of itself, what the document shows', async () => {
  const env = await shared();
  const { command, printed } = sessionOf(takeBlock('docs/consumers.md', 'consumer create'));
  const { out, err } = await runLines(`${command} --config "$CONFIG"`, env);
  expect(normalize(out + err)).toBe(normalize(printed));
  const [key = ''] = /tpk_\w+/.exec(out) ?? [];
  const me = await fetch(`${env['URL']}/api/v1/me`, { headers: { 'x-api-key': key } });
  const wanted = takeBlock('docs/consumers.md', '"limitPerMinute":600');
  expect(JSON.parse(normalize(await me.text()))).toEqual(JSON.parse(normalize(wanted)));
});

test.skipIf(!canCall)('leads: a metadata block gives a lead its ids', async () => {
  const env = await shared();
  const issue = {
    title: 'Demo',
    author: 'acme-portal[bot]',
    labels: ['approved'],
    body: `### First name\n\nAda\n\n${takeBlock('docs/leads.md', '<!-- trackport')}`,
  };
  const made = await fetch(`${env['TRACKER']}/_control/createIssue`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([issue]),
  });
  const { number } = (await made.json()) as { number: number };
  const headers = { 'x-api-key': env['TRACKPORT_KEY'] ?? '' };
  const lead = await fetch(`${env['URL']}/api/v1/leads/${number}`, { headers });
  expect(await lead.json()).toMatchObject({
    connect: {
      correlationId: '0b9f2c1e',
      portalRunUrl: 'https://portal.example.com/runs/81',
    },
  });
});

test('catalog: an artifact file, and a folder of documents, are imported', async () => {
  const env = await shared();
  const specs = path.join(temporaryFolder(), 'specs');
  mkdirSync(specs);
  writeFileSync(
    path.join(specs, 'orders.yaml'),
    takeBlock('docs/catalog.md', 'groupPath: shop/orders'),
  );
  const folder = takeBlock('README.md', 'catalog import ./specs').replace('./specs', specs);
  expect(await runWell(folder, env)).toContain('1 created');
});

test('README: what became of the calls of partners, and who did what', async () => {
  const env = await shared();
  expect(await runWell(takeBlock('README.md', 'trackport sign --help'), env)).toMatch(/^Usage: /);
  const send = `trackport sign --partner crm-one --curl --config "$CONFIG" --body '{"leadId":"1"}'`;
  const { id } = JSON.parse(await runWell(await runWell(send, env), env)) as { id: string };
  const commands = takeBlock('README.md', 'trackport receipt show ID');
  const out = await runWell(commands.replaceAll('ID', id), env);
  expect(out).toContain(id);
  expect(out).toMatch(/^LEAD +CLAIMED/m);
  expect(out).toContain('consumer.create');
});

test.skipIf(!canCall)('CI: the version before is deprecated with a sunset', async () => {
  const env = await shared();
  const token = takeBlock('docs/how-to/identity.md', 'TOKEN=')
    .split('\n')[0]
    ?.replace('catalog:read', 'catalog:write catalog:publish');
  const artifact = { id: 'before', version: '1.0.0', type: 'API', owner: 'team', title: 'Orders' };
  const create = `curl -sf -o /dev/null -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '${JSON.stringify(artifact)}' "$URL/api/v1/catalog"
curl -sf -o /dev/null -X POST -H "Authorization: Bearer $TOKEN" "$URL/api/v1/catalog/before/publish?version=1.0.0"
ADDRESS="$URL/api/v1/catalog/before"; BEFORE=1.0.0`;
  const deprecate = takeBlock('docs/how-to/catalog-from-ci.md', '/deprecate?');
  const out = await runWell(`${token}\n${create}\n${deprecate}`, env);
  expect(JSON.parse(out)).toMatchObject({ lifecycle: 'DEPRECATED' });
});

test('a key of the sandbox reads its catalog, as docs/catalog.md has it', async () => {
  const env = await shared();
  const read = takeBlock('docs/catalog.md', 'X-API-KEY: $TRACKPORT_KEY');
  expect(JSON.parse(await runWell(read, env))).toMatchObject({ items: expect.any(Array) });
});
