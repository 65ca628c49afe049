/** The sandbox's tracker alone, with the configuration that it prints. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { callControl } from '#sandbox/instruments/remote-controls.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { runHere } from '../support/command.ts';
import { takeBlock } from '../support/documents.ts';
import { listening, runTrackport, trackport } from '../support/process.ts';

test('what it prints is a configuration for which all goes well', async () => {
  const [, ...args] = takeBlock('docs/sandbox.md', '--tracker-only').trim().split(' ');
  const port = await freePort();
  const hook = `http://127.0.0.1:${port}/api/v1/webhooks/github`;
  const tracker = trackport([...args, '--port', '0', '--webhook', hook]);
  const trackerUrl = await listening(tracker);
  const printed = tracker.stdout().split('\n');
  const yaml = printed.filter((line) => !line.startsWith('{')).join('\n');
  const folder = temporaryFolder();
  const config = path.join(folder, 'trackport.yaml');
  writeFileSync(config, `${yaml}store: { url: "sqlite:${folder}/trackport.db" }\n`);

  const before = await runHere(['doctor', '--fix', '--config', config], {});
  expect(before).toMatchObject({ code: 0 });
  expect(before.stdout).toMatch(
    /^warning +webhook +It leads here; the service is not started yet/m,
  );

  const url = await listening(trackport(['serve', '--config', config]));
  expect(url).toBe(`http://127.0.0.1:${port}`);
  const create = ['consumer', 'create', 'sales', '--grant', 'leads:read', '--config', config];
  const [key = ''] = /tpk_\w+/.exec((await runHere(create, {})).stdout) ?? [];
  const read = (id: number): Promise<Response> =>
    fetch(`${url}/api/v1/leads/${id}`, { headers: { 'x-api-key': key } });
  expect((await read(7)).status).toBe(404);
  await callControl(trackerUrl, 'relabel', 7, { add: ['approved'] });
  await eventually(async () => expect((await read(7)).status).toBe(200));
  const after = await runHere(['doctor', '--config', config], {});
  expect(after.stdout).toMatch(/^ok +webhook +Leads here; the last delivery, .* got 202/m);

  tracker.child.kill('SIGTERM');
  expect(await tracker.exited).toBe(0);
});

test('it serves as many issues as are wanted, and says why it cannot', async () => {
  const few = ['--issues', '50', '--no-webhook'];
  const tracker = trackport(['sandbox', '--tracker-only', '--port', '0', ...few]);
  const url = await listening(tracker);
  expect(tracker.stdout()).not.toContain('publicUrl');
  const headers = { authorization: 'Bearer sandbox-tracker-token' };
  const response = await fetch(`${url}/repos/acme/leads/issues?state=all&per_page=100`, {
    headers,
  });
  const rows = (await response.json()) as { pull_request?: object }[];
  expect(rows).toHaveLength(50);
  expect(rows.filter(({ pull_request }) => pull_request)).toHaveLength(5);
  const { port } = new URL(url);
  const second = await runTrackport(['sandbox', '--tracker-only', '--port', port]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(`Port ${port} on 127.0.0.1 is in use.`);
});

test.each([
  [['--issues', '5'], '--issues goes with --tracker-only.'],
  [['--tracker-only', '--latency', '2m'], '--latency takes up to 1m, not "2m"'],
  [['--tracker-only', '--webhook', 'localhost'], '--webhook takes an http(s) address'],
  [['--tracker-only', '--config', 'x.yaml'], 'The sandbox takes no --config'],
])('%j is a wrong command line', async (args, complaint) => {
  const { code, stderr } = await runHere(['sandbox', ...args], {});
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(complaint) });
});
