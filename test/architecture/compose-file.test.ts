/** `compose.yaml` without an engine: its instances' configuration is valid, and fits. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '#config/load.ts';
import type { Config } from '#config/schema/schema.ts';
import { SECOND } from '#shared/clock.ts';
import { temporaryFolder } from '../support/folder.ts';

type Service = {
  environment?: Record<string, string>;
  secrets?: string[];
  expose?: string[];
  stop_grace_period?: string;
};

type ComposeFile = { services: Record<'postgres' | 'trackport-1' | 'trackport-2', Service> };

const { services } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as ComposeFile;
const instances = {
  'trackport-1': services['trackport-1'],
  'trackport-2': services['trackport-2'],
};
const proxy = 'caddy';

/** The configuration as an instance reads it, with secrets from another folder. */
function configOf({ environment = {}, secrets = [] }: Service): Config {
  const folder = temporaryFolder();
  const elsewhere = (text: string): string => text.replaceAll('/run/secrets', folder);
  for (const name of secrets)
    writeFileSync(path.join(folder, name), Buffer.alloc(32, 7).toString('base64url'));
  writeFileSync(path.join(folder, 'secret-key'), Buffer.alloc(32, 7).toString('base64'));
  const mounted = readFileSync('deploy/compose/trackport.yaml', 'utf8');
  const config = path.join(folder, 'trackport.yaml');
  writeFileSync(config, elsewhere(mounted));
  // Compose makes one `$` of two.
  const variables = Object.entries(environment).map(([name, value]) => [
    name,
    elsewhere(value.replaceAll('$$', '$')),
  ]);
  return loadConfig({ file: config, environment: Object.fromEntries(variables) });
}

test.each(Object.entries(instances))(
  '%s: its configuration is valid and fits',
  (_name, service) => {
    const { server, store } = configOf(service);
    if (store.url.engine !== 'postgres') throw new Error('it is not on PostgreSQL');
    const url = new URL(store.url.url.reveal());
    const { environment = {} } = services.postgres;
    expect(url.hostname).toBe('postgres');
    expect(url.username).toBe(environment['POSTGRES_USER']);
    expect(url.pathname).toBe(`/${environment['POSTGRES_DB']}`);
    expect(url.password).not.toContain('file:');
    expect(service.expose).toEqual([String(server.port), String(server.opsPort)]);
    const graceMs = Number.parseInt(service.stop_grace_period ?? '', 10) * SECOND;
    expect(graceMs).toBeGreaterThan(server.stopDelay + 10 * SECOND);
  },
);

test.skipIf(spawnSync(proxy, ['version']).error !== undefined)('Caddy takes its file', () => {
  const { status, stderr } = spawnSync(
    proxy,
    ['validate', '--adapter', 'caddyfile', '--config', 'deploy/compose/Caddyfile'],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: temporaryFolder() } },
  );
  expect({ status, stderr }).toMatchObject({ status: 0 });
});
