/** The client as somebody installs it: ES modules and CommonJS, their types, and nothing that it does not need. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { takeBlock } from '../support/documents.ts';
import { clientFolder, node20 } from './support.ts';

vi.setConfig({ testTimeout: 180_000 });

const PACK = takeBlock('docs/client.md', 'npm pack');

const USE = `
const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: async () => 'k', token: 't' });
client.use({ onRequest: ({ request }) => request.headers.set('x-trace', '1') });
`;

const TYPED = `${USE}
export async function names(): Promise<string[]> {
  const found: string[] = [unwrap(await client.GET('/api/v1/me')).name];
  for await (const lead of client.leads({ state: 'all' })) found.push(lead.title);
  for await (const change of client.changes({ from: 'start' }))
    if (change.type === 'lead.changed') found.push(change.lead.id);
  // @ts-expect-error: no such path
  await client.GET('/api/v1/mine');
  return found;
}
`;

const program = ['index.d.ts', 'index.js'];

test('the package has its readme, its licence and both builds', () => {
  const folder = path.join(clientFolder(PACK), 'node_modules/@trackport/client');
  expect(readdirSync(folder).toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  expect(readdirSync(path.join(folder, 'dist'))).toEqual(expect.arrayContaining(program));
  expect(readdirSync(path.join(folder, 'dist/cjs'))).toEqual(expect.arrayContaining(program));
  const packages = readdirSync(path.join(folder, '../..')).filter((name) => !name.startsWith('.'));
  expect(packages).toEqual(['@trackport', 'openapi-fetch', 'openapi-typescript-helpers']);
});

const nodes = [
  ['this Node', process.execPath],
  ['Node 20', node20],
] as const;

for (const [name, node] of nodes)
  test.skipIf(node === undefined)(`${name}: CommonJS requires it, and ES modules import it`, () => {
    const folder = clientFolder(PACK);
    const run = (file: string, text: string): string => {
      writeFileSync(path.join(folder, file), text);
      return execFileSync(node ?? '', [file], { cwd: folder, encoding: 'utf8' });
    };
    const say = `${USE} console.log(typeof client.follow, typeof ProblemError);`;
    const names = '{ createClient, ProblemError }';
    expect(run('a.cjs', `const ${names} = require('@trackport/client'); ${say}`)).toBe(
      'function function\n',
    );
    expect(run('a.mjs', `import ${names} from '@trackport/client'; ${say}`)).toBe(
      'function function\n',
    );
  });

test.each([
  ['ES modules and CommonJS', 'node16', ['a.mts', 'a.cts']],
  ['a bundler', 'preserve', ['a.ts']],
])('TypeScript checks %s with module %s', (_what, module, files) => {
  const folder = clientFolder(PACK);
  const text = `import { createClient, unwrap } from '@trackport/client';${TYPED}`;
  for (const file of files) writeFileSync(path.join(folder, file), text);
  const tsc = path.resolve('client/node_modules/typescript/bin/tsc');
  const options = '--noEmit --strict --skipDefaultLibCheck --target es2022 --lib es2022,dom';
  const args = [tsc, ...options.split(' '), '--module', module, ...files];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
});
