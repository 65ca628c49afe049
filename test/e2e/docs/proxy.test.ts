/**
 * The proxies of `docs/how-to/proxy.md` as they stand there, but for addresses and TLS, in front of a
 * real service: a signature over the address and the bytes comes through.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { freePort } from '../support/process.ts';
import { createWorld, serve } from '../support/world.ts';
import { eventually } from '../../support/eventually.ts';

type Proxy = {
  name: string;
  language: string;
  /** The file of the document with these addresses. */
  configure(text: string, service: string, port: number, folder: string): string;
  args(file: string, folder: string): string[];
};

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    language: 'nginx',
    configure: (text, service, port, folder) =>
      [
        'daemon off; worker_processes 1; error_log stderr;',
        `pid ${folder}/pid; events {} http { access_log off;`,
        ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
          (kind) => `${kind}_temp_path ${folder}/${kind};`,
        ),
        text
          .replace('127.0.0.1:8080', service)
          .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
          .replaceAll(/ssl_certificate.*;/g, ''),
        '}',
      ].join('\n'),
    args: (file, folder) => ['-c', file, '-p', folder, '-e', 'stderr'],
  },
  {
    name: 'caddy',
    language: 'caddyfile',
    configure: (text, service, port) =>
      `{\n admin off\n auto_https off\n}\n${text
        .replace('127.0.0.1:8080', service)
        .replace('adapter.example.com', `http://127.0.0.1:${port}`)}`,
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
];

const has = ({ name }: Proxy): boolean => {
  const { error } = spawnSync(name, [name === 'nginx' ? '-v' : 'version']);
  return error === undefined;
};

function fileOf({ language }: Proxy): string {
  const text = readFileSync('docs/how-to/proxy.md', 'utf8');
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(text)?.[1] ?? '';
}

async function startProxy(proxy: Proxy, service: string, port: number): Promise<void> {
  const folder = temporaryFolder();
  const file = path.join(folder, 'proxy.conf');
  writeFileSync(file, proxy.configure(fileOf(proxy), service, port, folder));
  const child = spawn(proxy.name, proxy.args(file, folder), {
    stdio: ['ignore', 'ignore', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: folder },
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await eventually(() => fetch(`http://127.0.0.1:${port}/healthz`));
}

for (const proxy of proxies)
  test.skipIf(!has(proxy))(`${proxy.name}: a signed call comes through unchanged`, async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const secret = 'the-secret-of-crm-two';
    const { config, key } = await createWorld({
      server: { publicUrl, trustProxy: ['loopback'] },
      partners: { 'crm-two': { scheme: 'signature-v3', secrets: [secret] } },
    });
    const { url } = await serve(config);
    await startProxy(proxy, new URL(url).host, port);

    // A proxy that writes the path anew turns `%65` into the `e` that it stands for.
    const address = `${publicUrl}/api/v1/webhooks/partners/crm-two/%65vents?a=%2Fb%20c&d=%C3%A9`;
    const body = JSON.stringify([{ eventId: 1, objectId: 4711, text: 'x'.repeat(200_000) }]);
    const timestamp = String(Date.now());
    const signature = createHmac('sha256', secret)
      .update(`POST${address.replace('%2F', '/')}${body}${timestamp}`)
      .digest('base64');
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-vendor-signature-v3': signature,
        'x-vendor-request-timestamp': timestamp,
      },
      body,
    });
    expect([response.status, await response.text()]).toEqual([
      202,
      expect.stringContaining('"partnerId":"crm-two"'),
    ]);

    const headers = { 'x-api-key': key };
    expect((await fetch(`${publicUrl}/api/v1/me`, { headers })).status).toBe(200);
  });
