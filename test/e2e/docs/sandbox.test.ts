/** What `docs/sandbox.md` shows, run as it stands there. */
import { spawnSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { takeBlock } from '../support/documents.ts';
import { hasTools, shareSampleSandbox, runWell } from '../support/samples.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 180_000 });

const shared = shareSampleSandbox();

test.skipIf(!hasTools('sh', 'curl'))(
  'an approval, and a tracker that fails and recovers',
  async () => {
    const env = await shared();
    const read = (): Promise<Response> =>
      fetch(`${env['URL']}/api/v1/leads/7`, {
        headers: { 'x-api-key': env['TRACKPORT_KEY'] ?? '' },
      });
    expect((await read()).status).toBe(404);
    await runWell(takeBlock('docs/sandbox.md', '_control/relabel"'), env);
    await eventually(async () => expect((await read()).status).toBe(200));
    const fail = takeBlock('docs/sandbox.md', '"status": 503');
    const [startFailing = '', stopFailing = ''] = fail.trim().split('\n');
    await runWell(startFailing, env);
    const failing = await fetch(`${env['TRACKER']}/repos/acme/leads`);
    expect(failing.status).toBe(503);
    await runWell(stopFailing, env);
    expect((await fetch(`${env['TRACKER']}/repos/acme/leads`)).status).not.toBe(503);
  },
);

test.skipIf(!hasTools('sh', 'curl'))('a dead letter, nobody named and nobody found', async () => {
  const env = await shared();
  const ends = async (): Promise<string[]> => {
    const out = await runWell('trackport receipt list --json --config "$CONFIG"', env);
    const { items } = JSON.parse(out) as { items: { status: string; outcomes: object }[] };
    return items.map(({ status, outcomes }) => `${status} ${Object.keys(outcomes).join()}`);
  };
  await runWell(takeBlock('docs/sandbox.md', '"status": 422'), env);
  await eventually(async () =>
    expect(await ends()).toEqual(['UNMATCHED REJECTED', 'FAILED FAILED']),
  );
  await runWell(takeBlock('docs/sandbox.md', 'nobody@example.com'), env);
  expect(await ends()).toContain('ACCEPTED PENDING');
  await runWell(takeBlock('docs/sandbox.md', 'receipt replay'), env);
  await eventually(async () => expect(await ends()).toContain('PROCESSED DONE'));
});

test('the command line looks after it', async () => {
  const env = await shared();
  const out = await runWell(takeBlock('docs/sandbox.md', '-- doctor'), env);
  expect(out).toMatch(/^ok +repository acme\/leads/m);
  expect(out).toContain('Nothing was written.');
});

test('its tracker serves a test', () => {
  const program = [
    "import { startTracker } from '#sandbox/tracker/tracker.ts';",
    "import { systemClock as clock } from '#shared/clock.ts';",
    "const body = '';",
    // The sample waits for a request that its test makes.
    takeBlock('docs/sandbox.md', 'await startTracker').replace(
      'await gate.arrived();',
      'const late = fetch(ISSUES, HEADERS); await gate.arrived();',
    ),
  ]
    .join('\n')
    .replace('gate.open();', 'gate.open(); await late;')
    .replace('ISSUES', '`${tracker.url}/repos/acme/leads/issues`')
    .replace('HEADERS', "{ headers: { authorization: 'Bearer t' } }");
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program],
    { encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([0, '']);
});
