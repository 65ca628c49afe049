/** The set-up of the README, command by command, against a tracker that speaks GitHub's API. */
import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { plainEnvironment } from '../../support/program.ts';
import { takeBlock } from '../support/documents.ts';
import { freePort } from '../../support/free-port.ts';
import { leadBody } from '../support/world.ts';
import type { Readable } from 'node:stream';

/**
 * Starts what serves until it is told to stop, by the command of a document: its address, and a stop that
 * resolves when all of it has ended, as it does after the running test.
 */
async function startLines(
  lines: string,
  env: Record<string, string>,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const command = lines.replace('--config trackport.yaml', '--config "$CONFIG"');
  const child = spawn('sh', ['-c', command], {
    env: { ...plainEnvironment(), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const signal = (name: NodeJS.Signals): void => {
    // Of the group: the shell and npm pass nothing on.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name);
  };
  onTestFinished(async () => {
    signal('SIGKILL');
    await ended;
  });
  const url = await listeningAt(child.stdout);
  return {
    url,
    stop: () => {
      signal('SIGTERM');
      return ended;
    },
  };
}

/** The address in the first line of the log that has one and says that the service listens. */
async function listeningAt(output: Readable): Promise<string> {
  let text = '';
  for await (const part of output.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += String(part);
    const [, url] = /"url":"([^"]+)","msg":"listening"/.exec(text) ?? [];
    if (url !== undefined) {
      output.resume();
      return url;
    }
  }
  throw new Error(`ended before it listened: ${text}`);
}

test(
  'the set-up of the README leads to a key that reads and a partner that deletes',
  { timeout: 180_000 },
  async () => {
    const file = takeBlock('README.md', 'repository: acme/leads');
    const partner = takeBlock('README.md', 'openssl rand -hex 32');
    const shorthand = takeBlock('README.md', 'trackport() {');
    const fixLabels = takeBlock('README.md', 'doctor --fix');
    const start = takeBlock('README.md', 'npm start -- --config');
    const createConsumer = takeBlock('README.md', 'consumer create');
    const sign = takeBlock('README.md', 'trackport sign --partner');
    expect(takeBlock('docs/how-to/github.md', 'doctor --fix')).toBe(fixLabels);
    const tracker = await startTracker({ tokens: [{ token: 'github-token', can: 'write' }] });
    onTestFinished(() => tracker.close());
    const folder = temporaryFolder();
    const config = path.join(folder, 'trackport.yaml');
    const port = await freePort();
    const here = file
      .replace('https://adapter.example.com', `http://127.0.0.1:${port}`)
      .replace('server: {', `server: { port: ${port},`)
      .replace('tracker:\n', `tracker:\n  apiUrl: ${tracker.url}\n  writeInterval: 100ms\n`);
    writeFileSync(config, `${here}store: { url: "sqlite:${folder}/trackport.db" }\n${partner}`);
    const environment = {
      TRACKPORT_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      GITHUB_TOKEN: 'github-token',
      GITHUB_WEBHOOK_SECRET: 'a-webhook-secret-of-the-readme',
      CRM_ONE_SECRET: 'a-partner-secret-of-the-readme',
    };
    const run = (command: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const text = `${shorthand}\n${command.replace('--config trackport.yaml', `--config '${config}'`)}`;
        const env = { ...plainEnvironment(), ...environment };
        execFile('bash', ['-c', text], { env }, (error, out, complaints) =>
          error ? reject(new Error(`${out}${complaints}`)) : resolve(out),
        );
      });

    expect(await run(fixLabels)).toMatch(/^fixed +label approved/m);
    const body = leadBody('ada@example.com');
    tracker.createIssue({ title: 'Demo', body, labels: ['approved'] });
    const { url } = await startLines(start, { CONFIG: config, ...environment });
    tracker.addWebhook(`${url}/api/v1/webhooks/github`, environment.GITHUB_WEBHOOK_SECRET);

    const [key = ''] = /tpk_\w+/.exec(await run(createConsumer)) ?? [];
    const read = async () => {
      const response = await fetch(`${url}/api/v1/leads/1`, { headers: { 'x-api-key': key } });
      return response.status;
    };
    expect(await read()).toBe(200);

    const receipt = await run(`${sign.trim()} | bash`);
    expect(receipt).toContain('"status":"ACCEPTED"');
    expect(await read()).toBe(404);
    await eventually(() => expect(tracker.readIssue(1)?.state).toBe('closed'));
  },
);

test('the two commands of the README start a sandbox', { timeout: 180_000 }, async () => {
  // All that `npm ci` brings is there: a test runs from it.
  const command = takeBlock('README.md', 'npm ci && npm start').replace('npm ci && ', '');
  const { url } = await startLines(command, { PORT: '0', TMPDIR: temporaryFolder() });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});
