/** Short samples of the documents, run as they stand there against one sandbox. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { listening, trackport } from '../support/process.ts';

function blocksOf(document: string, language: string): string[] {
  const text = readFileSync(document, 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block = '']) => block,
  );
}

/** The block that holds this text. */
function blockWith(document: string, language: string, text: string): string {
  const block = blocksOf(document, language).find((found) => found.includes(text));
  if (block === undefined) throw new Error(`${document} has no such block`);
  return block;
}

/** What the samples expect in the environment, of a sandbox that lives as long as the test. */
async function openSandbox(): Promise<Record<string, string>> {
  const service = trackport(['sandbox', '--port', '0'], {
    environment: { TMPDIR: temporaryFolder() },
  });
  const url = await listening(service);
  const banner = service.stdout();
  const find = (pattern: RegExp): string => pattern.exec(banner)?.[1] ?? '';
  return {
    PATH: process.env['PATH'] ?? '',
    URL: url,
    TRACKPORT_URL: url,
    TRACKER: find(/Tracker:\s+(\S+)\//),
    CONFIG: find(/Config:\s+(\S+)/),
    TRACKPORT_KEY: find(/(tpk_\w+)/),
    CRM_ONE_SECRET: find(/-hmac '([^']+)' -r/),
    CRM_TWO_SECRET: find(/-hmac '([^']+)' -binary/),
    CLIENT_ID: find(/-u '([^:]+):/),
    CLIENT_SECRET: find(/-u '[^:]+:([^']+)'/),
    TOKEN_ENDPOINT: find(/scope=[^']*' (http\S+token)\b/),
  };
}

function run(text: string, env: Record<string, string>): string {
  const { stdout, stderr, status } = spawnSync('sh', ['-e'], {
    input: text,
    encoding: 'utf8',
    env,
  });
  return status === 0 ? stdout : `${status} ${stdout}${stderr}`;
}

const hasTools = ['sh', 'curl', 'openssl'].every(
  (tool) => spawnSync(tool, ['--version']).error === undefined,
);

test.skipIf(!hasTools)('partners: both schemes by hand', async () => {
  const env = await openSandbox();
  const hmac = run(blockWith('docs/partners.md', 'sh', 'openssl dgst'), env);
  expect(hmac).toMatch(/^HTTP\/1\.1 202 /);
  const file = path.join(temporaryFolder(), 'sample.mjs');
  writeFileSync(file, blockWith('docs/partners.md', 'js', 'signature-v3'));
  const { stdout } = spawnSync(process.execPath, [file], { encoding: 'utf8', env });
  expect(stdout).toMatch(/^202 \{/);
});

test.skipIf(!hasTools)('identity: a token, and a call with it', async () => {
  const env = await openSandbox();
  const out = run(blockWith('docs/how-to/identity.md', 'sh', 'TOKEN='), env);
  expect(JSON.parse(out)).toMatchObject({ items: [] });
});

test.skipIf(!hasTools)('sandbox: an approval, and a tracker that fails and recovers', async () => {
  const env = await openSandbox();
  const [approve = '', fail = ''] = blocksOf('docs/sandbox.md', 'sh');
  const read = (): Promise<Response> =>
    fetch(`${env['URL']}/api/v1/leads/7`, { headers: { 'x-api-key': env['TRACKPORT_KEY'] ?? '' } });
  expect((await read()).status).toBe(404);
  run(approve, env);
  await eventually(async () => expect((await read()).status).toBe(200));
  const [startFailing = '', stopFailing = ''] = fail.trim().split('\n');
  run(startFailing, env);
  const failing = await fetch(`${env['TRACKER']}/repos/acme/leads`);
  expect(failing.status).toBe(503);
  run(stopFailing, env);
  expect((await fetch(`${env['TRACKER']}/repos/acme/leads`)).status).not.toBe(503);
});

test.skipIf(!hasTools)(
  'sandbox: the command line looks after it',
  { timeout: 180_000 },
  async () => {
    const env = await openSandbox();
    const out = run(blockWith('docs/sandbox.md', 'sh', '-- doctor'), env);
    expect(out).toMatch(/^ok +repository acme\/leads/m);
    expect(out).toContain('Nothing was written.');
  },
);

test.skipIf(!hasTools)('CI: the version before is deprecated with a sunset', async () => {
  const env = await openSandbox();
  const token = blockWith('docs/how-to/identity.md', 'sh', 'TOKEN=')
    .split('\n')[0]
    ?.replace('catalog:read', 'catalog:write catalog:publish');
  const artifact = { id: 'orders', version: '1.0.0', type: 'API', owner: 'team', title: 'Orders' };
  const create = `curl -sf -o /dev/null -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '${JSON.stringify(artifact)}' "$URL/api/v1/catalog"
curl -sf -o /dev/null -X POST -H "Authorization: Bearer $TOKEN" "$URL/api/v1/catalog/orders/publish?version=1.0.0"
ADDRESS="$URL/api/v1/catalog/orders"; BEFORE=1.0.0`;
  const deprecate = blockWith('docs/how-to/catalog-from-ci.md', 'bash', '/deprecate?');
  const out = run(`${token}\n${create}\n${deprecate}`, env);
  expect(JSON.parse(out)).toMatchObject({ lifecycle: 'DEPRECATED' });
});

test('sandbox: the tracker in a test', () => {
  const [sample = ''] = blocksOf('docs/sandbox.md', 'ts');
  const program = [
    "import { startTracker } from '#sandbox/tracker/tracker.ts';",
    "import { systemClock as clock } from '#shared/clock.ts';",
    "const body = '';",
    // The sample waits for a request that its test makes.
    sample.replace(
      'await gate.arrived();',
      'const late = fetch(ISSUES, HEADERS); await gate.arrived();',
    ),
  ]
    .join('\n')
    .replace('gate.open();', 'gate.open(); await late;')
    .replace('ISSUES', '`${tracker.url}/repos/acme/leads/issues`')
    .replace('HEADERS', "{ headers: { authorization: 'Bearer t' } }");
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program],
    { encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([0, '']);
});
