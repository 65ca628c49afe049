/**
 * The programs of `docs/how-to`, run as they stand there, against the sandbox. Those in a language
 * that this machine does not have are left out, and listed as skipped.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { takeBlock } from '../support/documents.ts';
import { exportedBy, hasTools, shareSampleSandbox } from '../support/samples.ts';
import { openServer } from '../../support/http/local-server.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 180_000 });

const shared = shareSampleSandbox();

type Language = { name: 'ts' | 'python' | 'php'; program: string; file: string };

const languages: readonly Language[] = [
  { name: 'ts', program: process.execPath, file: 'program.mts' },
  { name: 'python', program: 'python3', file: 'program.py' },
  { name: 'php', program: 'php', file: 'program.php' },
];

const has = ({ program }: Language): boolean => hasTools(program);

/** The programs of the documents, by language. */
const PARTNERS = {
  ts: takeBlock('docs/how-to/partner.md', 'randomUUID'),
  python: takeBlock('docs/how-to/partner.md', 'urllib.request'),
  php: takeBlock('docs/how-to/partner.md', "getenv('TRACKPORT_URL')"),
};
const SIGNERS_V3 = {
  ts: takeBlock('docs/how-to/partner.md', 'function signV3'),
  python: takeBlock('docs/how-to/partner.md', 'def sign_v3'),
  php: takeBlock('docs/how-to/partner.md', 'function sign_v3'),
};
type Ran = { code: number | null; out: string; err: string };

function run(
  { program, file }: Language,
  text: string,
  { folder = temporaryFolder(), environment = {} }: { folder?: string; environment?: object } = {},
): Promise<Ran> {
  writeFileSync(path.join(folder, file), text);
  const env = { PATH: process.env['PATH'], ...environment };
  return new Promise((resolve) => {
    const child = execFile(program, [file], { cwd: folder, env }, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
  });
}

type Sandbox = Record<string, string>;

async function leadsOf(sandbox: Sandbox): Promise<{ id: string; contact: { email?: string } }[]> {
  const response = await fetch(`${sandbox['URL']}/api/v1/leads?state=all&limit=100`, {
    headers: { 'x-api-key': sandbox['TRACKPORT_KEY'] ?? '' },
  });
  const { items } = (await response.json()) as { items: { id: string; contact: object }[] };
  return items;
}

/**
 * A way to the sandbox on which the first answer to a POST is lost, and the first GET meets a proxy
 * that reaches nobody.
 */
async function openBadWay(target: string): Promise<string> {
  const met = new Set<string>();
  const way: string = await openServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const isFirst = !met.has(method);
    met.add(method);
    void (async () => {
      const body = await buffer(request);
      if (isFirst && method === 'GET') return response.writeHead(502).end('<h1>Bad Gateway</h1>');
      const names = ['content-type', 'x-partner-signature'];
      const sent = names.map((name) => [name, String(headers[name] ?? '')] as [string, string]);
      const answer = await fetch(`${target}${url}`, {
        method,
        ...(method === 'POST' && { body, headers: sent }),
      });
      const text = await answer.text();
      if (isFirst) return request.socket.destroy();
      const location = answer.headers.get('location')?.replace(target, way);
      return response
        .writeHead(answer.status, location === undefined ? {} : { location })
        .end(text);
    })();
  });
  return way;
}

/** Deletes one lead of the sandbox that has an e-mail, by the partner's program. */
async function deleteBy(
  language: Language,
  sandbox: Sandbox,
  way = sandbox['URL'] ?? '',
): Promise<Ran & { id: string }> {
  const lead = (await leadsOf(sandbox)).find(({ contact }) => contact.email !== undefined);
  const environment = await exportedBy(takeBlock('docs/how-to/partner.md', 'PARTNER_ID=crm-one'), {
    TRACKPORT_URL: way,
    PARTNER_SECRET: sandbox['CRM_ONE_SECRET'] ?? '',
    LEAD_EMAIL: lead?.contact.email ?? '',
  });
  const ran = await run(language, PARTNERS[language.name], { environment });
  return { ...ran, id: lead?.id ?? '' };
}

// Before the others delete leads.
test('curl: one page of changes, and the next', async () => {
  const sandbox = await shared();
  const commands = takeBlock('docs/how-to/sales-tool.md', 'tee page.json');
  const { status, stdout } = spawnSync('sh', ['-e'], {
    input: commands,
    cwd: temporaryFolder(),
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      TRACKPORT_URL: sandbox['URL'],
      TRACKPORT_KEY: sandbox['TRACKPORT_KEY'],
    },
  });
  expect(status).toBe(0);
  const [first, second] = stdout
    .replace('}{', '}\n{')
    .split('\n')
    .map((text) => JSON.parse(text) as { items: { id: string }[] });
  expect(first?.items).toHaveLength(2);
  expect(second?.items).toHaveLength(2);
  expect(second?.items).not.toEqual(first?.items);
});

for (const language of languages)
  test.skipIf(!has(language))(
    `${language.name}: a deletion is sent and seen to its end`,
    async () => {
      const sandbox = await shared();
      const { code, out, err, id } = await deleteBy(language, sandbox);
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(/^accepted [\w-]{36}\nPROCESSED DONE\n$/);
      expect((await leadsOf(sandbox)).map((lead) => lead.id)).not.toContain(id);
    },
  );

for (const language of languages)
  test.skipIf(!has(language))(
    `${language.name}: a deletion whose answer is lost is sent again, and its end is seen all the same`,
    async () => {
      const sandbox = await shared();
      const way = await openBadWay(sandbox['URL'] ?? '');
      const { code, out, err } = await deleteBy(language, sandbox, way);
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(/^accepted [\w-]{36}\nPROCESSED DONE\n$/);
    },
  );

/** The rows of the table of vectors. */
const vectors = readFileSync('docs/how-to/partner.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| `(?:hmac|signature)/.test(line))
  .map((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, cell = '']) => cell));

/** Prints the signature of each vector, from the functions of the document. */
const printers: Record<Language['name'], (hmac: string[], v3: string[]) => string> = {
  ts: ([, secret, body], [, key, method, address, timestamp, batch]) =>
    `console.log(sign(${JSON.stringify(secret)}, ${JSON.stringify(body)}));
     console.log(signV3(${JSON.stringify(key)}, ${JSON.stringify({ method, address, timestamp, body: batch })}));`,
  python: ([, secret, body], [, key, method, address, timestamp, batch]) =>
    `print(sign(${JSON.stringify(secret)}, ${JSON.stringify(body)}.encode()))
print(sign_v3(${[key, method, address].map((text) => JSON.stringify(text)).join()}, ${JSON.stringify(batch)}.encode(), "${timestamp}"))`,
  php: ([, secret, body], [, key, method, address, timestamp, batch]) =>
    `echo sign('${secret}', '${body}'), "\\n", sign_v3('${key}', '${method}', '${address}', '${batch}', '${timestamp}'), "\\n";`,
};

/** The imports of a program, and its functions that sign. */
function signersOf({ name }: Language): string {
  const shape = {
    ts: /^import .*?;$|^export function sign.*?^\}$/gms,
    python: /^import .*?$|^def sign.*?(?=^\S)/gms,
    php: /^function sign.*?^\}$/gms,
  }[name];
  const texts = [PARTNERS[name], SIGNERS_V3[name]].map((text) => `${text}\n#`);
  const parts = texts.flatMap((text) => text.match(shape) ?? []);
  return `${name === 'php' ? '<?php\n' : ''}${[...new Set(parts)].join('\n')}\n`;
}

for (const language of languages)
  test.skipIf(!has(language))(
    `${language.name}: the signatures are those of the table`,
    async () => {
      const [hmac = [], v3 = []] = vectors;
      const imports = (text: string): string =>
        text.replace(/^import \{ createHmac \} from 'node:crypto';\n/m, '');
      const program = imports(signersOf(language)) + printers[language.name](hmac, v3);
      const { out, err } = await run(language, program);
      expect([out, err]).toEqual([`${hmac.at(-1)}\n${v3.at(-1)}\n`, '']);
    },
  );

test.skipIf(!hasTools('bash', 'curl', 'jq'))(
  'CI: a specification is published once, whatever the pipeline repeats',
  async () => {
    const sandbox = await shared();
    const exports = takeBlock('docs/how-to/catalog-from-ci.md', 'export TOKEN_ENDPOINT=');
    const env = { ...(await exportedBy(exports, sandbox)), ARTIFACT: 'orders-of-ci' };
    const folder = temporaryFolder();
    const script = takeBlock('docs/how-to/catalog-from-ci.md', 'set -euo pipefail');
    const publish = (version: string, description: string): string => {
      const spec = {
        openapi: '3.1.0',
        info: { title: 'Orders', version, description },
        paths: {},
      };
      writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify(spec));
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
        cwd: folder,
        encoding: 'utf8',
        env,
      });
      return `${stdout}${stderr}`;
    };
    expect(publish('1.0.0', 'first')).toBe('orders-of-ci 1.0.0 is published\n');
    expect(publish('1.0.0', 'first')).toBe('orders-of-ci 1.0.0 is published already\n');
    expect(publish('1.0.0', 'other')).toContain('published with another specification');
    expect(publish('1.1.0', 'other')).toBe('orders-of-ci 1.1.0 is published\n');
  },
);
