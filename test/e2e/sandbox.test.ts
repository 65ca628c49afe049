import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';
import { listening, runTrackport, trackport } from './process.ts';

const MARK = '=====';

/** Pastes everything that the banner prints into one shell; the answers in order. */
function pasteAll(banner: string): unknown[] {
  const lines = banner.split('\n').filter((line) => /^(?:curl |[A-Z]+=|npm )/.test(line));
  const script = lines.flatMap((line) => (isCall(line) ? [line, `echo; echo ${MARK}`] : [line]));
  const output = execFileSync('bash', ['-c', script.join('\n')], { encoding: 'utf8' });
  return output
    .split(MARK)
    .filter(isText)
    .map((text) => JSON.parse(text) as unknown);
}

function isCall(line: string): boolean {
  return line.startsWith('curl ') || line.startsWith('npm ');
}

function isText(text: string): boolean {
  return text.trim() !== '';
}

test('without a configuration everything starts, and every printed command works', async () => {
  const folder = temporaryFolder();
  const run = trackport(['serve', '--port', '0'], { environment: { TMPDIR: folder } });
  const url = await listening(run);
  expect(run.stdout()).toContain('SANDBOX');

  const answers = pasteAll(run.stdout());
  const pastedAgain = pasteAll(run.stdout());

  for (const given of [answers, pastedAgain])
    expect(given).toMatchObject([
      { items: expect.any(Array), pagination: { hasMore: true } },
      { id: expect.any(String), contact: { email: expect.any(String) } },
      { partnerId: 'crm-one', eventType: 'lead.qualified', status: 'ACCEPTED' },
      { partnerId: 'crm-one', eventType: 'lead.deletion', status: 'ACCEPTED' },
      { partnerId: 'crm-two', eventType: 'contact.deletion', status: 'ACCEPTED' },
      { id: 'orders-api', lifecycle: 'DRAFT' },
      { id: 'orders-api', lifecycle: 'PUBLISHED' },
      { id: 'orders-api', lifecycle: 'DEPRECATED', sunsetAt: expect.any(String) },
      { items: expect.arrayContaining([expect.objectContaining({ partnerId: 'crm-two' })]) },
    ]);
  const trackerUrl = /Tracker:\s+(\S+)/.exec(run.stdout())?.[1] ?? '';
  await vi.waitFor(
    async () => {
      const page = await (await fetch(trackerUrl)).text();
      expect(page.match(/deleted-by-partner/g)?.length).toBeGreaterThanOrEqual(2);
    },
    { timeout: 10_000 },
  );
  expect((await fetch(`${url}/docs`)).status).toBe(200);

  run.child.kill('SIGTERM');
  expect(await run.exited).toBe(0);
  expect(readdirSync(folder).filter((name) => name.startsWith('trackport-'))).toEqual([]);
});

test('the sandbox takes a port and no more from variables for the real thing', async () => {
  const run = trackport(['sandbox', '--port', '0'], {
    environment: {
      TMPDIR: temporaryFolder(),
      TRACKPORT_SERVER_PUBLIC_URL: 'https://adapter.example.com',
      TRACKPORT_STORE_URL: 'postgres://u:p@h/d',
      TRACKPORT_TRACKER_REPOSITORY: 'acme/real',
    },
  });
  await listening(run);
  expect(run.stdout()).not.toContain('adapter.example.com');
});

test('the sandbox listens on loopback only', async () => {
  const { code, stderr } = await runTrackport(['sandbox', '--port', '0'], {
    environment: { TRACKPORT_SERVER_HOST: '0.0.0.0' },
  });
  expect(code).toBe(2);
  expect(stderr).toContain('listens on loopback only, not on 0.0.0.0');
});
