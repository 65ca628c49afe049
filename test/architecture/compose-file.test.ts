/** `compose.yaml` without an engine: what it names exists, and its parts fit each other. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '#config/load.ts';
import type { Config } from '#config/schema/schema.ts';
import { SECOND } from '#shared/clock.ts';
import { temporaryFolder } from '../support/folder.ts';

type Service = {
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  build?: string;
  environment?: Record<string, string>;
  secrets?: string[];
  volumes?: string[];
  expose?: string[];
  ports?: string[];
  stop_grace_period?: string;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
};

type ComposeFile = {
  services: Record<'postgres' | 'trackport-1' | 'trackport-2' | 'proxy', Service>;
  secrets: Record<string, { file: string }>;
  volumes: Record<string, unknown>;
};

const file = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as ComposeFile;
const { services } = file;
const instances = {
  'trackport-1': services['trackport-1'],
  'trackport-2': services['trackport-2'],
};
const proxy = 'caddy';
const caddyfile = readFileSync('deploy/compose/Caddyfile', 'utf8');

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

test('every service is without rights, on a root file system that is read-only', () => {
  for (const [name, service] of Object.entries(services)) {
    expect.soft(service.read_only, name).toBe(true);
    expect.soft(service.cap_drop, name).toEqual(['ALL']);
    expect.soft(service.security_opt, name).toEqual(['no-new-privileges:true']);
    expect.soft(service.user, name).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect.soft(service.healthcheck, name).toBeDefined();
  }
});

test('what it mounts and names exists', () => {
  const named = Object.values(services);
  for (const volume of named.flatMap(({ volumes = [] }) => volumes)) {
    const [source = ''] = volume.split(':');
    if (source.startsWith('.')) expect.soft(existsSync(source), source).toBe(true);
    else expect.soft(Object.keys(file.volumes)).toContain(source);
  }
  for (const secret of named.flatMap(({ secrets = [] }) => secrets))
    expect.soft(Object.keys(file.secrets)).toContain(secret);
  const text = readFileSync('compose.yaml', 'utf8');
  for (const [name, secret] of Object.entries(file.secrets)) {
    expect.soft(secret.file, name).toBe(`./secrets/${name}`);
    expect.soft(text, `how to write ${name}`).toMatch(new RegExp(`> secrets/${name}\\b`));
  }
  for (const other of named.flatMap(({ depends_on = {} }) => Object.keys(depends_on)))
    expect.soft(Object.keys(services)).toContain(other);
  expect(readFileSync('.gitignore', 'utf8').split('\n')).toContain('secrets/');
});

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
    // It finds server.opsPort by itself.
    expect(service.healthcheck?.test.join(' ')).toContain('trackport health --ready');
    const graceMs = Number.parseInt(service.stop_grace_period ?? '', 10) * SECOND;
    expect(graceMs).toBeGreaterThan(server.stopDelay + 10 * SECOND);
  },
);

test('the proxy asks the readiness of all instances, often enough for the stop delay', () => {
  const { server } = configOf(services['trackport-1']);
  const upstreams = Object.keys(instances).map((name) => `${name}:${server.port}`);
  expect(caddyfile).toContain(`reverse_proxy ${upstreams.join(' ')} {`);
  expect(caddyfile).toContain('health_uri /readyz');
  expect(caddyfile).toContain(`health_port ${server.opsPort}`);
  const seconds = (key: string): number =>
    Number(new RegExp(`${key} (\\d+)s`).exec(caddyfile)?.[1]) * SECOND;
  expect(seconds('health_interval') + seconds('health_timeout')).toBeLessThan(server.stopDelay);
  const { port } = new URL(server.publicUrl ?? '');
  expect(services.proxy.ports).toEqual([`127.0.0.1:${port}:${port}`]);
  expect(caddyfile).toContain(`\n:${port} {`);
});

test.skipIf(spawnSync(proxy, ['version']).error !== undefined)('Caddy takes its file', () => {
  const { status, stderr } = spawnSync(
    proxy,
    ['validate', '--adapter', 'caddyfile', '--config', 'deploy/compose/Caddyfile'],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: temporaryFolder() } },
  );
  expect({ status, stderr }).toMatchObject({ status: 0 });
});
