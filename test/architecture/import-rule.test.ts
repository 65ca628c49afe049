/**
 * A rule that silently matches nothing looks just like code without faults, so each line of the
 * import rule is tried on a planted violation, in a copy of the layout.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

type Report = { diagnostics: { code: string; filename: string }[] };

/** A file of each folder, and imports that it must not have. */
const forbidden: Record<string, string[]> = {
  'src/shared/x.ts': ['#leads/model/lead.ts', '#config/load.ts', '#http/server.ts'],
  'src/config/x.ts': ['#leads/model/lead.ts', '#adapters/github/transport/auth.ts', '#cli/cli.ts'],
  'src/leads/x.ts': [
    '../access/grant.ts',
    '#access/grant.ts',
    '#partners/event.ts',
    '#config/load.ts',
    '#adapters/github/transport/auth.ts',
    '#http/server.ts',
    'fastify',
    '@octokit/rest',
    'better-sqlite3',
    'jose',
  ],
  'src/access/x.ts': ['#leads/model/lead.ts', '#catalog/version/artifact.ts', 'fastify', 'jose'],
  'src/catalog/x.ts': ['#leads/model/lead.ts', '#access/grant.ts', 'better-sqlite3'],
  'src/partners/x.ts': [
    '#access/grant.ts',
    '#catalog/version/artifact.ts',
    '#adapters/sqlite/database.ts',
    '@octokit/core',
    '@opentelemetry/api',
    'better-sqlite3',
  ],
  'sandbox/x.ts': [
    '#leads/model/lead.ts',
    '../src/leads/lead.ts',
    '#http/server.ts',
    '#adapters/github/transport/auth.ts',
    '#config/load.ts',
  ],
  'src/adapters/github/x.ts': [
    '#adapters/sqlite/database.ts',
    '#http/server.ts',
    '#config/load.ts',
    '#compose/tracker.ts',
    '#cli/cli.ts',
    '#sandbox/sandbox.ts',
    '../sqlite/claims/claim-store.ts',
    '../pino/log.ts',
    '../opentelemetry/tracing.ts',
    '../../http/app.ts',
  ],
  'src/http/routes/y.ts': ['../../adapters/sqlite/database.ts'],
  'src/http/routes/leads/y.ts': ['../../../leads/index.ts', '#config/load.ts'],
  'sandbox/tracker/api/routes/y.ts': ['../../../../src/leads/index.ts', '#leads/index.ts'],
  'src/portal/x.ts': ['#config/load.ts', '#adapters/jose/verify-token.ts', '#cli/cli.ts'],
  'src/http/x.ts': [
    '#portal/html.ts',
    '#adapters/sqlite/database.ts',
    '#cli/cli.ts',
    '#sandbox/sandbox.ts',
    '#config/load.ts',
    '@trackport/client',
  ],
  'src/cli/x.ts': [
    '#adapters/sqlite/database.ts',
    '#http/server.ts',
    '#adapters/postgres/server.ts',
    '#portal/portal.ts',
    '#sandbox/sandbox.ts',
    '../compose/store.ts',
  ],
  'src/compose/x.ts': ['#cli/cli.ts', '#doctor/examine.ts', '../leads/index.ts'],
  'src/doctor/x.ts': [
    '#cli/cli.ts',
    '#portal/portal.ts',
    '#catalog/index.ts',
    '../compose/store.ts',
  ],
};

/** Imports that each folder lives from: the rule must not fire on everything. */
const allowed: Record<string, string[]> = {
  'sandbox/ok.ts': ['#shared/clock.ts', './tracker/tracker.ts', 'oidc-provider'],
  'src/config/ok.ts': ['#shared/clock.ts'],
  'src/leads/ok.ts': ['#shared/clock.ts', './lead.ts', 'lru-cache'],
  'src/partners/ok.ts': ['#leads/claims/claim-store.ts', '#shared/clock.ts'],
  'src/adapters/github/ok.ts': [
    '#leads/claims/claim-store.ts',
    '#partners/event.ts',
    '@octokit/rest',
  ],
  'src/http/ok.ts': ['#leads/claims/claim-store.ts', 'fastify'],
  'src/http/routes/claims/ok.ts': ['../leads/schema.ts', '../../app.ts', '#package.json'],
  'src/cli/ok.ts': [
    '#leads/claims/claim-store.ts',
    '#config/load.ts',
    '#compose/service.ts',
    '#doctor/examine.ts',
    '#adapters/jose/certificates.ts',
    'commander',
    '@trackport/client',
  ],
  'src/compose/ok.ts': ['#adapters/sqlite/database.ts', '#http/server.ts', '#sandbox/sandbox.ts'],
  'src/doctor/ok.ts': ['#adapters/github/inspection.ts', '#compose/tracker.ts', '#config/load.ts'],
};

let folder: string;
let report: Report;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'trackport-canary-'));
  mkdirSync(path.join(folder, 'docs'));
  for (const file of ['oxlint.config.ts', 'docs/glossary.md'])
    copyFileSync(file, path.join(folder, file));
  plant(forbidden);
  plant(allowed);
  report = await lint(['src', 'sandbox']);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function lint(files: readonly string[]): Promise<Report> {
  const oxlint = path.resolve('node_modules/.bin/oxlint');
  const run = await promisify(execFile)(oxlint, ['--format', 'json', ...files], {
    cwd: folder,
  }).catch(
    (error: Error & { stdout: string; stderr: string }) => error, // faults make it exit 1
  );
  try {
    return JSON.parse(run.stdout) as Report;
  } catch {
    throw new Error(`oxlint reported nothing: ${run.stdout}${run.stderr}`, { cause: run });
  }
}

/** One file per import: `src/leads/x.ts` becomes `src/leads/x0.ts`, `src/leads/x1.ts`, … */
function plant(imports: Record<string, string[]>): void {
  for (const [file, specifiers] of Object.entries(imports))
    for (const [index, specifier] of specifiers.entries()) {
      const target = path.join(folder, fileOf(file, index));
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, `import { it } from '${specifier}';\nexport const use = it;\n`);
    }
}

function fileOf(file: string, index: number): string {
  return file.replace('.ts', `${index}.ts`);
}

function isFlagged(file: string): boolean {
  return report.diagnostics.some(
    ({ code, filename }) => filename === file && code === 'eslint(no-restricted-imports)',
  );
}

const each = (imports: Record<string, string[]>) =>
  Object.entries(imports).flatMap(([file, specifiers]) =>
    specifiers.map((specifier, index) => [fileOf(file, index), specifier] as const),
  );

test.each(each(forbidden))('%s must not import %s', (file) => {
  expect(isFlagged(file)).toBe(true);
});

test.each(each(allowed))('%s may import %s', (file) => {
  expect(isFlagged(file)).toBe(false);
});

test('the environment can be read at the edge only', async () => {
  const place = (file: string): void => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), 'export const home = process.env.HOME;\n');
  };
  const files = ['src/leads/env.ts', 'src/config/env.ts', 'src/main.ts'];
  for (const file of files) place(file);
  const { diagnostics } = await lint(files);
  const flagged = diagnostics
    .filter(({ code }) => code === 'node(no-process-env)')
    .map(({ filename }) => filename);
  expect(flagged.sort()).toEqual(['src/config/env.ts', 'src/leads/env.ts']);
});

test('a word that the glossary refuses as code is no name, nor is its plural', async () => {
  const names = ['customer', 'Customers', 'answer', 'consumer'];
  mkdirSync(path.join(folder, 'src/shared'), { recursive: true });
  for (const name of names)
    writeFileSync(
      path.join(folder, `src/shared/${name}.ts`),
      `export const it = { ${name}: 1 };\n`,
    );
  const { diagnostics } = await lint(names.map((name) => `src/shared/${name}.ts`));
  const flagged = diagnostics
    .filter(({ code }) => code === 'eslint(id-denylist)')
    .map(({ filename }) => path.basename(filename, '.ts'));
  expect(new Set(flagged)).toEqual(new Set(['customer', 'Customers', 'answer']));
});
