/** The workflow of `docs/how-to/catalog-from-ci.md`: its steps as they stand there, against the sandbox. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../../support/folder.ts';
import { plainEnvironment, programFile } from '../../support/program.ts';
import { takeBlock } from '../support/documents.ts';
import { shareSampleSandbox, runLines } from '../support/samples.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 180_000 });

const shared = shareSampleSandbox();

type Step = { name?: string; if?: string; run?: string; env?: Record<string, string> };
type Workflow = { jobs: { import: { env: Record<string, string>; steps: Step[] } } };

const workflow = parse(
  takeBlock('docs/how-to/catalog-from-ci.md', 'github.event_name'),
) as Workflow;
const { env, steps } = workflow.jobs.import;

const issuerOf = (sandbox: Record<string, string>): string =>
  new URL(sandbox['TOKEN_ENDPOINT'] ?? '').origin;

test('the workflow checks pull requests and publishes what is pushed', async () => {
  const sandbox = await shared();
  const checkout = temporaryFolder();
  mkdirSync(path.join(checkout, 'specs'));
  mkdirSync(path.join(checkout, 'node_modules/.bin'), { recursive: true });
  symlinkSync(programFile(), path.join(checkout, 'node_modules/.bin/trackport'));
  const runStep = (event: string) => {
    const step = steps.find((one) => one.if === `github.event_name == '${event}'`);
    const { stdout, stderr, status } = spawnSync(
      'bash',
      ['--norc', '-ec', withClient(step?.run ?? '')],
      {
        cwd: checkout,
        encoding: 'utf8',
        env: {
          ...plainEnvironment(),
          PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
          npm_config_loglevel: 'error',
          ...Object.fromEntries(Object.keys(env).map((name) => [name, sandboxValue(name)])),
          ...Object.fromEntries(
            Object.keys(step?.env ?? {}).map((name) => [name, sandboxValue(name)]),
          ),
        },
      },
    );
    return { status, stdout, stderr };
  };
  const values: Record<string, string | undefined> = {
    SERVER: sandbox['URL'],
    ISSUER: issuerOf(sandbox),
    TRACKPORT_CLIENT_SECRET: sandbox['CLIENT_SECRET'],
  };
  const sandboxValue = (name: string): string | undefined => values[name];
  const withClient = (run: string): string =>
    run.replace(/--client-id \S+/, `--client-id ${sandbox['CLIENT_ID']}`);
  const put = (version: string, place: string): void =>
    writeFileSync(
      path.join(checkout, 'specs', 'orders.yaml'),
      `openapi: 3.1.0\ninfo:\n  title: Orders of CI\n  version: ${version}\npaths:\n  ${place}: {}\n`,
    );

  put('1.0.0', 'no-slash');
  const wrong = runStep('pull_request');
  expect([wrong.status, wrong.stderr]).toEqual([1, '1 of 1 failed.\n']);
  expect(wrong.stdout).toMatch(/^::error file=specs\/orders\.yaml,line=5,col=1,title=/);
  put('1.0.0', '/orders');
  expect(runStep('pull_request')).toMatchObject({ status: 0, stderr: '' });
  for (const counts of ['1 published, 0 unchanged', '0 published, 1 unchanged'])
    expect(runStep('push')).toMatchObject({ status: 0, stdout: expect.stringContaining(counts) });
  put('1.0.0', '/other');
  expect(runStep('pull_request').stdout).toMatch(/line=4,col=3,title=frozen::/);
});

test('the command above it runs as it stands there', async () => {
  const sandbox = await shared();
  const folder = path.join(temporaryFolder(), 'specs');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'a.yaml'), 'id: a\ntype: PRODUCT\nowner: b\ntitle: c\n');
  const lines = takeBlock('docs/how-to/catalog-from-ci.md', 'export TRACKPORT_CLIENT_SECRET=')
    .replace('…', sandbox['CLIENT_SECRET'] ?? '')
    .replace('./specs', folder)
    .replace('https://trackport.example.com', sandbox['URL'] ?? '')
    .replace('https://id.example.com', issuerOf(sandbox))
    .replace('--client-id ci', `--client-id ${sandbox['CLIENT_ID']}`);
  const { code, out, err } = await runLines(lines, sandbox);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('Nothing was written. It would be: 1 created');
});
