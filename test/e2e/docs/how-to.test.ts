/**
 * The programs of `docs/how-to`, run as they stand there, against the sandbox. Those in a language
 * that this machine does not have are left out, and listed as skipped.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { listening, trackport } from '../support/process.ts';

type Language = { name: 'ts' | 'python' | 'php'; program: string; file: string };

const languages: readonly Language[] = [
  { name: 'ts', program: process.execPath, file: 'program.mts' },
  { name: 'python', program: 'python3', file: 'program.py' },
  { name: 'php', program: 'php', file: 'program.php' },
];

const has = ({ program }: Language): boolean => spawnSync(program, ['--version']).status === 0;

function blocksOf(document: string, language: string): string[] {
  const text = readFileSync(`docs/how-to/${document}.md`, 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block = '']) => block,
  );
}

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

type Sandbox = { url: string; key: string; secret: string };

async function openSandbox(): Promise<Sandbox> {
  const service = trackport(['sandbox', '--port', '0'], {
    environment: { TMPDIR: temporaryFolder() },
  });
  const url = await listening(service);
  const banner = service.stdout();
  const [key = ''] = /tpk_\w+/.exec(banner) ?? [];
  const [, secret = ''] = /-hmac '([^']+)' -r/.exec(banner) ?? [];
  return { url, key, secret };
}

async function leadsOf({
  url,
  key,
}: Sandbox): Promise<{ id: string; contact: { email?: string } }[]> {
  const response = await fetch(`${url}/api/v1/leads?state=all&limit=100`, {
    headers: { 'x-api-key': key },
  });
  const { items } = (await response.json()) as { items: { id: string; contact: object }[] };
  return items;
}

const storedIn = (folder: string): string[] =>
  Object.keys(
    (JSON.parse(readFileSync(path.join(folder, 'leads.json'), 'utf8')) as { leads: object }).leads,
  ).sort();

/** Deletes one lead of the sandbox that has an e-mail, by the partner's program. */
async function deleteBy(language: Language, sandbox: Sandbox): Promise<Ran & { id: string }> {
  const lead = (await leadsOf(sandbox)).find(({ contact }) => contact.email !== undefined);
  const [program = ''] = blocksOf('partner', language.name);
  const ran = await run(language, program, {
    environment: {
      TRACKPORT_URL: sandbox.url,
      PARTNER_ID: 'crm-one',
      PARTNER_SECRET: sandbox.secret,
      LEAD_EMAIL: lead?.contact.email,
    },
  });
  return { ...ran, id: lead?.id ?? '' };
}

for (const language of languages)
  test.skipIf(!has(language))(
    `${language.name}: a deletion is sent and seen to its end`,
    async () => {
      const sandbox = await openSandbox();
      const { code, out, err, id } = await deleteBy(language, sandbox);
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(/^accepted [\w-]{36}\nPROCESSED DONE\n$/);
      expect((await leadsOf(sandbox)).map((lead) => lead.id)).not.toContain(id);
    },
  );

for (const language of languages.filter(({ name }) => name !== 'php'))
  test.skipIf(!has(language))(`${language.name}: a copy of the leads stays current`, async () => {
    const sandbox = await openSandbox();
    const folder = temporaryFolder();
    const environment = { TRACKPORT_URL: sandbox.url, TRACKPORT_KEY: sandbox.key };
    const [program = ''] = blocksOf('sales-tool', language.name);
    const before = (await leadsOf(sandbox)).map(({ id }) => id).sort();

    const first = await run(language, program, { folder, environment });
    expect([first.code, first.err, first.out]).toEqual([0, '', `${before.length} leads\n`]);
    expect(storedIn(folder)).toEqual(before);

    const [partner = language] = languages;
    const { id } = await deleteBy(partner, sandbox);
    const second = await run(language, program, { folder, environment });
    expect([second.code, second.err]).toEqual([0, '']);
    expect(storedIn(folder)).toEqual(before.filter((number) => number !== id));

    const refused = await run(language, program, {
      folder,
      environment: { ...environment, TRACKPORT_KEY: 'tpk_wrong' },
    });
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('401 {');
  });

test('curl: one page, and the next', async () => {
  const sandbox = await openSandbox();
  const [, commands = ''] = blocksOf('sales-tool', 'sh');
  const { status, stdout } = spawnSync('sh', ['-e'], {
    input: commands,
    cwd: temporaryFolder(),
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      TRACKPORT_URL: sandbox.url,
      TRACKPORT_KEY: sandbox.key,
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

/** The rows of the table of vectors. */
const vectors = readFileSync('docs/how-to/partner.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| `(?:hmac|signature)/.test(line))
  .map((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, cell = '']) => cell));

/** What prints the signature of each vector, from the functions of the document. */
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
  const [program = '', ...rest] = blocksOf('partner', name);
  const shape = {
    ts: /^import .*?;$|^export function sign.*?^\}$/gms,
    python: /^import .*?$|^def sign.*?(?=^\S)/gms,
    php: /^function sign.*?^\}$/gms,
  }[name];
  const texts = [program, ...rest].map((text) => `${text}\n#`);
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

const tools = ['bash', 'curl', 'jq'].every(
  (tool) => spawnSync(tool, ['--version']).error === undefined,
);

test.skipIf(!tools)(
  'CI: a specification is published once, whatever the pipeline repeats',
  async () => {
    const service = trackport(['sandbox', '--port', '0'], {
      environment: { TMPDIR: temporaryFolder() },
    });
    const url = await listening(service);
    const [, id, secret] = /-u '([^:]+):([^']+)'/.exec(service.stdout()) ?? [];
    const [, endpoint] = /scope=[^']*' (http\S+token)\b/.exec(service.stdout()) ?? [];
    const folder = temporaryFolder();
    const [script = ''] = blocksOf('catalog-from-ci', 'bash');
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
        env: {
          PATH: process.env['PATH'],
          TRACKPORT_URL: url,
          TOKEN_ENDPOINT: endpoint,
          CLIENT_ID: id,
          CLIENT_SECRET: secret,
          SPEC: 'openapi.json',
          ARTIFACT: 'orders-of-ci',
          OWNER: 'team-orders',
        },
      });
      return `${stdout}${stderr}`;
    };
    expect(publish('1.0.0', 'first')).toBe('orders-of-ci 1.0.0 is published\n');
    expect(publish('1.0.0', 'first')).toBe('orders-of-ci 1.0.0 is published already\n');
    expect(publish('1.0.0', 'other')).toContain('published with another specification');
    expect(publish('1.1.0', 'other')).toBe('orders-of-ci 1.1.0 is published\n');
  },
);
