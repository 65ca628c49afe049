/**
 * The programs that follow the lead feed, and those of the client, run as their documents have them, with the package as
 * somebody installs it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createClient } from '@trackport/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { whileTimePasses } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { clientFolder, openFeedWorld, openProxy, type FeedWorld } from '../client/support.ts';
import { takeBlock } from '../support/documents.ts';
import { exportedBy, hasTools, shareSampleSandbox } from '../support/samples.ts';
import { sendDeletion } from '../support/world.ts';

vi.setConfig({ testTimeout: 300_000 });

const shared = shareSampleSandbox();

const SYNC = takeBlock('docs/client.md', 'rename');
const SYNC_PYTHON = takeBlock('docs/how-to/sales-tool.md', 'import http.client');
const PACK = takeBlock('docs/client.md', 'npm pack');
const CALLS = takeBlock('docs/client.md', 'ProblemError');
const SIGN = takeBlock('docs/client.md', 'signV3');

type Started = {
  kill: () => Promise<void>;
  exited: Promise<unknown>;
  out: () => string;
  err: () => string;
};

type Script = { by: string; text: string };

const node = (text: string): Script => ({ by: process.execPath, text });
const python = (text: string): Script => ({ by: 'python3', text });

function start(folder: string, { by, text }: Script, env: Record<string, string>): Started {
  writeFileSync(path.join(folder, 'program.mts'), text);
  const child = spawn(by, ['program.mts'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (part) => (out += String(part)));
  child.stderr.on('data', (part) => (err += String(part)));
  const exited = once(child, 'close').then(([code]) => code as unknown);
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  return { kill, exited, out: () => out, err: () => err };
}

/** The same numbers each time: what goes wrong once goes wrong again. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** One thing that a person, or a partner, does. */
async function disturb({ tracker, service, lead }: FeedWorld, random: (below: number) => number) {
  const [...issues] = tracker.issues();
  const { number } = issues[random(issues.length)] ?? { number: Number(lead()) };
  const acts = [
    () => lead(...(random(2) === 0 ? ['eu'] : [])),
    () => tracker.editIssue(number, { title: `Edited ${random(1000)}` }),
    () => tracker.relabel(number, { remove: ['approved'] }),
    () => tracker.relabel(number, { add: ['approved'] }),
    () => tracker.relabel(number, { remove: ['eu'] }),
    () => tracker.relabel(number, { add: ['eu'] }),
    () => tracker.setState(number, random(2) === 0 ? 'open' : 'closed'),
    () => random(4) === 0 && tracker.deleteIssue(number),
    () => random(4) === 0 && sendDeletion(service.url, number),
  ];
  await acts[random(acts.length)]?.();
}

async function keyOfEurope({ service }: FeedWorld): Promise<string> {
  const { issued } = await service.service.access.consumers.create(
    { name: 'europe', grants: [{ action: 'leads:read', labels: ['eu'] }] },
    { actor: { kind: 'system', subject: 'test' } },
  );
  return issued.key.reveal();
}

async function walk(baseUrl: string, apiKey: string): Promise<Record<string, unknown>> {
  const leads: Record<string, unknown> = {};
  const client = createClient({ baseUrl, apiKey });
  for await (const lead of client.leads({ state: 'all' })) leads[lead.id] = lead;
  return leads;
}

const copyIn = (folder: string): Record<string, unknown> =>
  (JSON.parse(readFileSync(path.join(folder, 'leads.json'), 'utf8')) as { leads: {} }).leads;

test('a copy has what a full walk shows, after half an hour of changes and several kills', async () => {
  const world = await openFeedWorld();
  const { service, tracker } = world;
  const { clock } = service;
  for (let leads = 0; leads < 30; leads += 1) world.lead(...(leads % 2 === 0 ? ['eu'] : []));
  const proxy = await openProxy(service.url); // holds streams back
  const tools = [
    { url: service.url, key: service.key, program: node(SYNC) },
    { url: proxy.url, key: await keyOfEurope(world), program: node(SYNC) },
    ...(hasTools('python3')
      ? [{ url: service.url, key: service.key, program: python(SYNC_PYTHON) }]
      : []),
  ].map((tool) => {
    const folder = clientFolder(PACK);
    const run = (): Started =>
      start(folder, tool.program, { TRACKPORT_URL: tool.url, TRACKPORT_KEY: tool.key });
    return { ...tool, folder, run, running: run() };
  });
  for (const { folder } of tools)
    await eventually(async () => {
      await clock.advance(200);
      expect(Object.keys(copyIn(folder)).length).toBeGreaterThan(0);
    });

  const random = createRandom(1);
  for (let seconds = 0; seconds < 1800; seconds += 10) {
    await disturb(world, random);
    await tracker.hooks.settled();
    for (let waits = 0; waits < 20; waits += 1) await clock.advance(500);
    const tool = tools[random(tools.length * 20)];
    if (tool) {
      await tool.running.kill();
      tool.running = tool.run();
    }
  }

  for (const { key, folder } of tools)
    await eventually(async () => {
      await clock.advance(1000);
      expect(copyIn(folder)).toEqual(await whileTimePasses(clock, walk(service.url, key)));
    });
});

test('the program of the README tells what there is', async () => {
  const world = await openFeedWorld();
  const one = world.lead();
  const program = takeBlock('README.md', 'client.changes').replace(
    'http://127.0.0.1:8080',
    world.service.url,
  );
  const env = { TRACKPORT_KEY: world.service.key };
  const { out } = start(clientFolder(PACK), node(program), env);
  await eventually(() => expect(out()).toContain(`put ${one} Lead\n`));
});

test.skipIf(!hasTools('python3'))('Python: ends where its key is refused', async () => {
  const { service } = await openFeedWorld();
  const exports = takeBlock('docs/how-to/sales-tool.md', 'export TRACKPORT_KEY=');
  const values = { TRACKPORT_URL: service.url, TRACKPORT_KEY: 'tpk_wrong' };
  const env = await exportedBy(exports, values);
  const { exited, err } = start(clientFolder(PACK), python(SYNC_PYTHON), env);
  expect(await exited).toBe(1);
  expect(err()).toContain('401 {');
});

test.skipIf(!hasTools('curl'))('curl: a stream of changes', async () => {
  const world = await openFeedWorld();
  const one = world.lead();
  const text = takeBlock('docs/how-to/sales-tool.md', 'Accept: text/event-stream');
  const env = { TRACKPORT_URL: world.service.url, TRACKPORT_KEY: world.service.key };
  const { out } = start(temporaryFolder(), { by: 'sh', text: `exec ${text}` }, env);
  await eventually(() => expect(out()).toContain(`"type":"lead.changed","id":"${one}"`));
});

test('reads, calls, and tells what is wrong', async () => {
  const sandbox = await shared();
  const { exited, out } = start(clientFolder(PACK), node(CALLS), sandbox);
  expect(await exited).toBe(0);
  const lines = out().trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.slice(-2)).toEqual([expect.stringMatching(/^as \S/), '404 lead-not-found true']);
});

test('sends as both partners of the sandbox, and hears what became of it', async () => {
  const sandbox = await shared();
  const { exited, out } = start(clientFolder(PACK), node(SIGN), sandbox);
  expect([await exited, out()]).toEqual([0, 'crm-one ACCEPTED\nDONE\ncrm-two ACCEPTED\n']);
});
