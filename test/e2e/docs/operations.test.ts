/** Commands and output of `docs/operations.md`, and the database of `docs/storage.md`. */
import { copyFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { newUuid } from '#shared/ids.ts';
import { cleanPostgres, emptyPostgres } from '../../support/postgres/database.ts';
import { startCollector } from '../support/collector.ts';
import { takeBlock } from '../support/documents.ts';
import { configFile } from '../support/process.ts';
import { hasTools, shareSampleSandbox, runLines, runWell, startLines } from '../support/samples.ts';
import { createWorld, environment, serve } from '../support/world.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 180_000 });

const shared = shareSampleSandbox();

test('the short form of the command is the one of the README', () => {
  expect(takeBlock('docs/operations.md', 'trackport() {')).toBe(
    takeBlock('README.md', 'trackport() {'),
  );
});

test('a failure with --json, and /readyz, are as they are shown', async () => {
  const env = await shared();
  const wanted = takeBlock('docs/operations.md', '"detail":"Lead 1 is not claimed."');
  const { code, out, err } = await runLines(
    'trackport claim release 1 --json --config "$CONFIG"',
    env,
  );
  expect([code, out, JSON.parse(err)]).toEqual([1, '', JSON.parse(wanted)]);

  const digits = (text: string): string => text.replaceAll(/[\d:.TZ-]{2,}/g, 'N');
  const health = JSON.parse(digits(takeBlock('docs/operations.md', '"checks":{'))) as unknown;
  await eventually(async () => {
    const response = await fetch(`${env['URL']}/readyz`);
    expect(JSON.parse(digits(await response.text()))).toEqual(health);
  });
});

test('receipts are found and replayed, and the audit log is read', async () => {
  const env = await shared();
  const send = `trackport sign --partner crm-one --curl --config "$CONFIG" --body '{"leadId":"1"}'`;
  const { id } = JSON.parse(await runWell(await runWell(send, env), env)) as { id: string };
  const receipts = takeBlock('docs/operations.md', 'receipt list --outcome FAILED');
  expect(await runWell(receipts.replaceAll(' ID ', ` ${id} `), env)).toContain(id);
  const audit = takeBlock('docs/operations.md', 'audit list --subject');
  expect(await runWell(audit, env)).toContain('consumer.create');
});

test('traces go to the collector that the command names', async () => {
  const { config } = await createWorld();
  const collector = await startCollector();
  const command = takeBlock('docs/operations.md', 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const here = command.replace('http://127.0.0.1:4318', collector.url);
  const { url, stop } = await startLines(here, { CONFIG: config, PORT: '0', ...environment });
  await fetch(`${url}/api/v1/leads`);
  await stop();
  expect(collector.spans().map(({ name }) => name)).toContain('GET /api/v1/leads');
});

test('a backup of a running service is restored in an empty place', async () => {
  const { config, tracker, key } = await createWorld();
  await serve(config);
  const file = path.join(temporaryFolder(), 'backup.db');
  const backUp = takeBlock('docs/operations.md', 'trackport backup').replace('backup.db', file);
  await runWell(backUp, { CONFIG: config, ...environment });

  const folder = temporaryFolder();
  const other = configFile({
    store: { url: `sqlite:${folder}/trackport.db` },
    tracker: { repository: 'acme/leads', apiUrl: tracker.url, auth: { token: '${E2E_TOKEN}' } },
  });
  const restore = takeBlock('docs/operations.md', 'trackport restore').replace('backup.db', file);
  await runWell(restore, { CONFIG: other, ...environment });
  // The key is not in a backup, as the page says.
  copyFileSync(`${path.dirname(config)}/data/trackport.db.key`, `${folder}/trackport.db.key`);
  const { url } = await serve(other);
  const me = await fetch(`${url}/api/v1/me`, { headers: { 'x-api-key': key } });
  expect(me.status).toBe(200);
});

test('a stopped store goes from a file to PostgreSQL', async () => {
  const { config } = await createWorld();
  const file = path.join(path.dirname(config), 'data', 'trackport.db');
  expect(existsSync(file)).toBe(true);
  const { url } = await emptyPostgres();
  const copy = takeBlock('docs/operations.md', 'trackport store copy');
  const out = await runWell(copy.replace('data/trackport.db', file), { DATABASE_URL: url });
  expect(out).toMatch(/^rows +[1-9]/m);
});

test.skipIf(!hasTools('createuser', 'createdb'))(
  "PostgreSQL's own commands make a database that takes the schema",
  async () => {
    const database = await emptyPostgres();
    const server = new URL(database.url);
    const name = `trackport_${newUuid().replaceAll('-', '')}`;
    const password = 'a-password-of-this-test';
    const make = takeBlock('docs/storage.md', 'createuser --pwprompt');
    cleanPostgres(database, [`DROP DATABASE IF EXISTS ${name}`, `DROP ROLE IF EXISTS ${name}`]);
    await runWell(make.replaceAll(/\btrackport\b/g, name), {
      PGHOST: server.hostname,
      PGPORT: server.port,
      PGUSER: server.username,
      PGPASSWORD: decodeURIComponent(server.password),
      INPUT: `${password}\n${password}\n`,
    });
    const store = new URL(server);
    Object.assign(store, { username: name, password, pathname: `/${name}` });
    const config = configFile({
      secretKey: Buffer.alloc(32, 7).toString('base64'),
      store: { url: store.href },
      tracker: { repository: 'acme/leads', auth: { token: 't' } },
    });
    expect(await runWell('trackport migrate --config trackport.yaml', { CONFIG: config })).not.toBe(
      '',
    );
  },
);
