/** Short samples of the documents, run as they stand there against one sandbox. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { takeBlock } from '../support/documents.ts';
import { hasTools, shareSampleSandbox, runWell } from '../support/samples.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 180_000 });

const shared = shareSampleSandbox();

const canCall = hasTools('sh', 'curl', 'openssl');

test.skipIf(!canCall)('identity: a token, and a call with it', async () => {
  const env = await shared();
  const out = await runWell(takeBlock('docs/how-to/identity.md', 'TOKEN='), env);
  expect(JSON.parse(out)).toMatchObject({ items: expect.any(Array) });
});

test('README: a folder of documents is imported', async () => {
  const env = await shared();
  const specs = path.join(temporaryFolder(), 'specs');
  mkdirSync(specs);
  const document = { openapi: '3.1.0', info: { title: 'Orders', version: '1.0.0' }, paths: {} };
  writeFileSync(path.join(specs, 'orders.json'), JSON.stringify(document));
  const [token = ''] = takeBlock('docs/how-to/identity.md', 'TOKEN=').split('\n');
  const folder = takeBlock('README.md', 'catalog import ./specs')
    .replace(
      'export TRACKPORT_TOKEN=…',
      `${token.replace('catalog:read', 'catalog:read catalog:write')}\nexport TRACKPORT_TOKEN="$TOKEN"`,
    )
    .replace('https://trackport.example.com', '"$URL"')
    .replace('./specs', specs);
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

test.skipIf(!canCall)('deprecate: an owner sees who reads, tells, and retires', async () => {
  const given = await shared();
  const [token = ''] = takeBlock('docs/how-to/identity.md', 'TOKEN=').split('\n');
  const artifact = {
    id: 'leaving',
    version: '1.0.0',
    type: 'API',
    owner: 'team',
    title: 'Leaving',
  };
  const made = await runWell(
    `${token.replace('catalog:read', 'catalog:read catalog:write catalog:publish')}
curl -sf -o /dev/null -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '${JSON.stringify(artifact)}' "$URL/api/v1/catalog"
curl -sf -o /dev/null -X POST -H "Authorization: Bearer $TOKEN" "$URL/api/v1/catalog/leaving/publish?version=1.0.0"
curl -sf -o /dev/null -H "X-API-KEY: $TRACKPORT_KEY" "$URL/api/v1/catalog/leaving"
echo "$TOKEN"`,
    given,
  );
  const exports = takeBlock('docs/how-to/deprecate.md', 'export ARTIFACT=');
  const values = { TOKEN: made.trim(), ARTIFACT: 'leaving', VERSION: '1.0.0' };
  expect(Object.keys(values).filter((name) => !exports.includes(`${name}=`))).toEqual([]);
  const env = { ...given, ...values };
  const run = async (lines: string) => JSON.parse(await runWell(lines, env));
  const usage = await run(takeBlock('docs/how-to/deprecate.md', '/usage?version='));
  expect(usage.items).toMatchObject([{ readers: [{ kind: 'consumer', reads: 1 }] }]);
  const shown = JSON.parse(takeBlock('docs/how-to/deprecate.md', '"lastReadAt"'));
  expect(Object.keys(shown.items[0].readers[0])).toEqual(Object.keys(usage.items[0].readers[0]));
  await run(takeBlock('docs/how-to/deprecate.md', '/deprecate?version='));
  const me = await run(takeBlock('docs/how-to/deprecate.md', '/api/v1/me'));
  expect(me.deprecated).toEqual([
    { id: 'leaving', version: '1.0.0', sunsetAt: '2027-06-30T23:59:59Z' },
  ]);
  const retire = takeBlock('docs/how-to/deprecate.md', '/retire?version=');
  expect(await run(retire)).toMatchObject({ code: 'version-in-use', readers: [me.id] });
  expect(await run(retire.replace('$VERSION"', '$VERSION&early=true"'))).toMatchObject({
    lifecycle: 'RETIRED',
  });
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
