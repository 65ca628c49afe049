/** The client where it runs: one program that reads, follows and signs, in every runtime of this machine. */
import { execFile } from 'node:child_process';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { openServer } from '../../support/http/local-server.ts';
import { openPage } from '../support/browser.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { node20, openFeedWorld, type FeedWorld } from './support.ts';

/** Ends with the first lead that is taken out. `report` is called once before. */
const program = `
import { createClient, signHmacSha256 } from '@trackport/client';

export async function run(baseUrl, apiKey, report) {
  const client = createClient({ baseUrl, apiKey });
  const leads = [];
  for await (const { id } of client.leads({ limit: 1 })) leads.push(id);
  const refused = await client.changes({ cursor: 'x' }).next().catch(({ code, requestId }) => [code, typeof requestId]);
  const signed = await signHmacSha256({ secret: 'secret', body: 'body' });
  for await (const { type, id } of client.changes({ from: 'start' })) {
    if (type === 'lead.removed') return { leads: leads.sort(), refused, signed, removed: id };
    report('following');
  }
}
`;

const wanted = (leads: string[]) => ({
  leads,
  refused: ['invalid-cursor', 'string'],
  signed: {
    'X-Partner-Signature':
      'sha256=dc46983557fea127b43af721467eb9b3fde2338fe3e14f51952aa8478c13d355',
  },
  removed: leads[1],
});

/** Runs it while a lead loses its label. */
async function watchRun(world: FeedWorld, run: Promise<unknown>, isFollowing: () => boolean) {
  await eventually(() => expect(isFollowing()).toBe(true));
  await world.service.clock.advance(2000);
  world.tracker.relabel(2, { remove: ['approved'] });
  let result: unknown;
  void run.then((value) => (result = value));
  await eventually(async () => {
    await world.service.clock.advance(200);
    expect(result).toBeDefined();
  });
  return result;
}

const nodes = [
  ['this Node', process.execPath],
  ['Node 20', node20],
] as const;

for (const [name, node] of nodes)
  test.skipIf(node === undefined)(`${name}: reads, follows, signs`, async () => {
    const world = await openFeedWorld();
    const leads = [world.lead(), world.lead()];
    let out = '';
    const text = `${program}
const result = await run('${world.service.url}', '${world.service.key}', console.log);
console.log(JSON.stringify(result));`;
    const run = new Promise<string>((resolve, reject) => {
      const args = ['--input-type=module', '-e', text];
      const child = execFile(node ?? '', args, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      );
      child.stdout?.on('data', (part) => (out += String(part)));
      onTestFinished(() => void child.kill());
    });
    const printed = await watchRun(world, run, () => out.includes('following'));
    expect(JSON.parse(String(printed).trim().split('\n').at(-1) ?? '')).toEqual(wanted(leads));
  });

const chromium = findChromium();

/** The program as a bundler makes it for a page: a function `run`. */
async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: process.cwd() },
    bundle: true,
    format: 'iife',
    globalName: 'program',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** A page of an origin of its own, without anything. */
async function openOrigin(): Promise<string> {
  return openServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<link rel="icon" href="data:,">'),
  );
}

test.skipIf(chromium === undefined)(
  'Chromium: a page of another origin reads, follows, signs',
  async () => {
    const origin = await openOrigin();
    const world = await openFeedWorld({ server: { cors: [origin] } });
    const leads = [world.lead(), world.lead()];
    const browser = await launchChromium(chromium ?? '');
    onTestFinished(() => browser.close());
    const { page } = await openPage(browser);
    await page.goto(origin);
    await page.addScriptTag({ content: await bundle() });
    let isFollowing = false;
    await page.exposeFunction('report', () => {
      isFollowing = true;
    });
    const { url, key } = world.service;
    const run = page.evaluate(`program.run('${url}', '${key}', report)`);
    expect(await watchRun(world, run, () => isFollowing)).toEqual(wanted(leads));
  },
);
