/** `trackport health`: what the image, compose and the unit ask, by the command lines that stand there. */
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { runHere } from '../support/command.ts';
import { configFile, listening, trackport } from '../support/process.ts';

vi.setConfig({ testTimeout: 180_000 });

type Compose = { services: Record<'trackport-1', { healthcheck: { test: string[] } }> };
const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as Compose;
const [, ofImage = ''] =
  /^HEALTHCHECK .*\n +CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
const [, ofUnit = ''] =
  /^ExecStartPost=-\/usr\/bin\/env (.*)$/m.exec(readFileSync('deploy/trackport.service', 'utf8')) ??
  [];

/** The words behind `trackport`, but for the place of the configuration. */
const lines: [who: string, args: string[]][] = [
  ['the image', JSON.parse(ofImage) as string[]],
  ['compose', compose.services['trackport-1'].healthcheck.test],
  ['the unit', ofUnit.split(' ')],
].map(([who, words = []]) => {
  const args = [words].flat();
  const own = args.slice(args.findIndex((word) => /trackport(?:\.js)?$/.test(word)) + 1);
  return [String(who), own.filter((word, at) => ![word, own[at - 1]].includes('--config'))];
});

async function configured(server: object) {
  const config = configFile({
    server: { port: await freePort(), ...server },
    store: { url: `sqlite:${temporaryFolder()}/trackport.db` },
    tracker: { repository: 'acme/leads', auth: { token: 'none' }, apiUrl: 'http://127.0.0.1:9' },
  });
  return { TRACKPORT_CONFIG: config };
}

test.each([
  ['the common port of all addresses', async () => ({ host: '0.0.0.0' })],
  ['server.opsPort', async () => ({ opsPort: await freePort() })],
])('finds the service at %s, and says when it has ended', async (_name, server) => {
  const environment = await configured(await server());
  const run = trackport(['serve'], { environment });
  await listening(run);
  for (const [who, args] of lines) {
    const { code, stdout } = await runHere(args, environment);
    expect([who, code, stdout]).toEqual([who, 0, expect.stringMatching(/^ok: http\S+z 200\n$/)]);
  }
  run.child.kill('SIGTERM');
  await run.exited;
  const { code, stdout } = await runHere(['health', '--json'], environment);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, response: 'ECONNREFUSED' });
});

test('waits for a service that is about to start', async () => {
  const environment = await configured({});
  const asked = runHere(['health', '--ready', '--wait', '60s'], environment);
  await listening(trackport(['serve'], { environment }));
  expect(await asked).toMatchObject({ code: 0 });
});

test('a port that nobody can know is a wrong command line', async () => {
  const { code, stderr } = await runHere(['health'], await configured({ port: 0 }));
  expect([code, stderr]).toEqual([2, expect.stringContaining('--port')]);
});
