import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';
import { listening, runTrackport, trackport } from './process.ts';

/** The commands of the banner, one per section, as a person would paste them. */
function pastedCommands(banner: string): string[] {
  const sections = banner.split(/\n\n# /).slice(1);
  return sections.map((section) => section.split('\n').slice(1).filter(isCommand).join('\n'));
}

function isCommand(line: string): boolean {
  return line !== '' && !line.startsWith('{');
}

function paste(command: string): unknown {
  return JSON.parse(execFileSync('bash', ['-c', command], { encoding: 'utf8' }));
}

test('without a configuration everything starts, and every printed command works', async () => {
  const folder = temporaryFolder();
  const run = trackport(['serve', '--port', '0'], { environment: { TMPDIR: folder } });
  await listening(run);
  expect(run.stdout()).toContain('SANDBOX');
  const [list, one, event, deletion] = pastedCommands(run.stdout()).map(paste);

  expect(list).toMatchObject({ items: expect.any(Array), pagination: { hasMore: true } });
  expect(one).toMatchObject({ id: expect.any(String) });
  expect(event).toMatchObject({ partnerId: 'crm-one', status: 'ACCEPTED' });
  expect(deletion).toMatchObject({ partnerId: 'crm-one', eventType: 'lead.deletion' });
  const trackerUrl = /Tracker:\s+(\S+)/.exec(run.stdout())?.[1] ?? '';
  await vi.waitFor(
    async () => expect(await (await fetch(trackerUrl)).text()).toContain('deleted-by-partner'),
    { timeout: 10_000 },
  );

  run.child.kill('SIGTERM');
  expect(await run.exited).toBe(0);
  expect(readdirSync(folder).filter((name) => name.startsWith('trackport-'))).toEqual([]);
});

test('the sandbox listens on loopback only', async () => {
  const { code, stderr } = await runTrackport(['sandbox', '--port', '0'], {
    environment: { TRACKPORT_SERVER_HOST: '0.0.0.0' },
  });
  expect(code).toBe(2);
  expect(stderr).toContain('listens on loopback only, not on 0.0.0.0');
});
