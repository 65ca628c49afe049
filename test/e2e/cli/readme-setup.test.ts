/** The set-up of the README, command by command, against a tracker that speaks GitHub's API. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { freePort, listening, trackport } from '../support/process.ts';
import { leadBody } from '../support/world.ts';

const [, setUp = ''] =
  /## Set it up in five minutes\n(.*?)\n## /s.exec(readFileSync('README.md', 'utf8')) ?? [];

const blocksOf = (language: string): string[] =>
  [...setUp.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\`$`, 'gms'))].map(
    ([, indent = '', body = '']) => body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );

test(
  'the set-up of the README leads to a key that reads and a partner that deletes',
  { timeout: 180_000 },
  async () => {
    const [file = '', partner = ''] = blocksOf('yaml');
    const [shorthand = '', fixLabels = '', , createConsumer = '', sign = ''] = blocksOf('sh');
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
        const env = { PATH: process.env['PATH'], NO_COLOR: '1', ...environment };
        execFile('bash', ['-c', text], { env }, (error, out, complaints) =>
          error ? reject(new Error(`${out}${complaints}`)) : resolve(out),
        );
      });

    expect(await run(fixLabels)).toMatch(/^fixed +label approved/m);
    const body = leadBody('ada@example.com');
    tracker.createIssue({ title: 'Demo', body, labels: ['approved'] });
    const service = trackport(['serve', '--config', config], { environment });
    const url = await listening(service);
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
