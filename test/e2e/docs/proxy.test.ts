/**
 * The proxies of `docs/how-to/proxy.md` as they stand there, but for addresses and TLS, in front of a
 * real service: a signature over the address and the bytes comes through.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createClient, unwrap } from '@trackport/client';
import { temporaryFolder } from '../../support/folder.ts';
import { follow } from '../client/support.ts';
import { takeBlock } from '../support/documents.ts';
import { freePort } from '../../support/free-port.ts';
import { hasTools, runWell } from '../support/samples.ts';
import { createWorld, leadBody, serve, WEBHOOK_SECRET } from '../support/world.ts';
import { eventually } from '../../support/eventually.ts';
import { openServer } from '../../support/http/local-server.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 180_000 });

type Proxy = {
  name: string;
  /** The ETag that it makes of `"made-here"` of what it compresses, in its latest release. */
  itsTag: string;
  /** Its file, as the document has it. */
  file: string;
  /** The same with these addresses. */
  configure(text: string, service: string, port: number, folder: string): string;
  args(file: string, folder: string): string[];
};

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    itsTag: 'W/"made-here"',
    file: takeBlock('docs/how-to/proxy.md', 'proxy_pass'),
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
    itsTag: '"made-here-gzip"',
    file: takeBlock('docs/how-to/proxy.md', 'reverse_proxy'),
    configure: (text, service, port) =>
      `{\n admin off\n auto_https off\n}\n${text
        .replace('127.0.0.1:8080', service)
        .replace('adapter.example.com', `http://127.0.0.1:${port}`)}`,
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
];

const isHere = new Map(proxies.map((proxy) => [proxy, hasTools(proxy.name)]));
const has = (proxy: Proxy): boolean => isHere.get(proxy) === true;

async function startProxy(proxy: Proxy, service: string, port: number): Promise<void> {
  const folder = temporaryFolder();
  const file = path.join(folder, 'proxy.conf');
  writeFileSync(file, proxy.configure(proxy.file, service, port, folder));
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

/** Its two commands: who a key is, and a signed call that is pasted. */
async function tryAsTheDocumentSays(at: { publicUrl: string; key: string; config: string }) {
  const env = { TRACKPORT_KEY: at.key, CONFIG: at.config };
  const commands = takeBlock('docs/how-to/proxy.md', '/api/v1/me');
  const here = commands.replace('https://adapter.example.com', at.publicUrl);
  const [me = '', pasted = ''] = (await runWell(here, env)).split(/^(?=curl )/m);
  expect(JSON.parse(me)).toMatchObject({ name: 'sales' });
  expect(JSON.parse(await runWell(pasted, env))).toMatchObject({ status: 'ACCEPTED' });
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
    if (hasTools('curl')) await tryAsTheDocumentSays({ publicUrl, key, config });
  });

// At the same time: each waits for as long as a poll does.
test.skipIf(!proxies.some(has))('streams and long polls come through each', async () => {
  const throughProxy = async (proxy: Proxy): Promise<void> => {
    const { config, key, tracker } = await createWorld({ server: { trustProxy: ['loopback'] } });
    const { url } = await serve(config);
    tracker.addWebhook(`${url}/api/v1/webhooks/github`, WEBHOOK_SECRET);
    const port = await freePort();
    await startProxy(proxy, new URL(url).host, port);
    const client = createClient({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: key,
      attemptsMax: 1,
    });
    const query = { from: 'start' as const };
    const begun = unwrap(await client.GET('/api/v1/leads/changes', { params: { query } }));

    const reader = follow(client, { from: 'start', transport: 'stream' });
    const poll = async () => {
      const query = { cursor: begun.pagination.nextCursor, wait: '30s' };
      return unwrap(await client.GET('/api/v1/leads/changes', { params: { query } })).items;
    };
    expect(await poll()).toEqual([]); // as long as an answer is ever held open
    const next = poll();
    const issue = { title: 'Lead', body: leadBody('a@example.org'), labels: ['approved'] };
    const id = String(tracker.createIssue(issue).number);
    expect(await next).toMatchObject([{ id }]);
    await eventually(() => expect(reader.items()).toContain(`+${id}`));
    expect(reader.failures).toEqual([]);
  };
  await Promise.all(proxies.filter(has).map(throughProxy));
});

/** Says which conditions reached it; a 304 to its own ETag, as Trackport decides it. */
async function startUpstream(): Promise<string> {
  const url = await openServer(({ url, headers }, response) => {
    const { 'if-none-match': known = '', 'if-match': wanted = '' } = headers;
    response.setHeader('etag', '"made-here"');
    response.setHeader('x-if-match', wanted);
    response.setHeader('content-type', url === '/portal' ? 'text/html' : 'application/json');
    if (known.replace(/^W\//, '') === '"made-here"') response.statusCode = 304;
    response.end(response.statusCode === 304 ? undefined : JSON.stringify('x'.repeat(10_000)));
  });
  return new URL(url).host;
}

for (const proxy of proxies)
  test.skipIf(!has(proxy))(
    `${proxy.name}: compresses JSON, and its ETags stay of use`,
    async () => {
      const port = await freePort();
      await startProxy(proxy, await startUpstream(), port);
      const send = (path: string, headers: Record<string, string>): Promise<Response> =>
        fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { 'accept-encoding': 'gzip', ...headers },
        });
      const first = await send('/api/v1/leads', {});
      expect(first.headers.get('content-encoding')).toBe('gzip');
      const tag = first.headers.get('etag') ?? '';
      expect((await send('/api/v1/leads', { 'if-none-match': tag })).status).toBe(304);
      for (const sent of [tag, proxy.itsTag, '"made-here"']) {
        const { headers } = await send('/api/v1/leads', { 'if-match': sent });
        expect(headers.get('x-if-match')).toBe('"made-here"');
      }
      const none = await send('/api/v1/leads', {});
      expect(none.headers.get('x-if-match')).toBe('');
      expect((await send('/portal', {})).headers.get('content-encoding')).toBeNull();
    },
  );
