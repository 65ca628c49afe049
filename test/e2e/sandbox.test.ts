import { existsSync, readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';
import { programFile } from '../support/program.ts';
import { paste, shells } from '../support/shells.ts';
import { runHere } from './support/command.ts';
import { listening, trackport } from './support/process.ts';
import { eventually } from '../support/eventually.ts';

/** Many processes are started, one after the other. */
const SLOW = { timeout: 180_000 };

/** Everything from the first heading of the banner to the log. */
function commandsOf(output: string): string {
  const lines = output.slice(output.indexOf('\n: ')).split('\n');
  return lines.slice(0, lines.findIndex(isJson)).join('\n');
}

function isJson(line: string): boolean {
  return line.startsWith('{');
}

/** `npm run -s trackport -- …` without the second that npm takes: the first shell has shown that it works. */
const npmInShort = (): string =>
  `npm() { shift 4; '${process.execPath}' '${programFile()}' "$@"; }`;

test(
  'without a configuration everything starts, and all that is printed can be pasted into any shell',
  SLOW,
  async () => {
    const folder = temporaryFolder();
    const run = trackport(['serve', '--port', '0'], { environment: { TMPDIR: folder } });
    const url = await listening(run);
    expect(run.stdout()).toContain('SANDBOX');

    const commands = commandsOf(run.stdout());
    const pastes = shells.map((shell, at) =>
      paste(shell, at === 0 ? commands : `${npmInShort()}\n${commands}`),
    );

    expect(pastes.length).toBeGreaterThan(0);
    expect(pastes.flatMap(({ complaints }) => complaints)).toEqual([]);
    for (const { lines } of pastes)
      expect(lines.filter(isJson).map((line) => JSON.parse(line) as unknown)).toMatchObject([
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
    for (const { lines } of pastes) {
      expect(lines.filter((line) => line.startsWith('failed'))).toEqual([]);
      expect(lines.join('\n')).toMatch(/^ok +repository acme\/leads/m);
      expect(lines.join('\n')).toMatch(/^(?:1 created|.*1 unchanged)/m);
    }
    const trackerUrl = /Tracker:\s+(\S+)/.exec(run.stdout())?.[1] ?? '';
    await eventually(async () => {
      const page = await (await fetch(trackerUrl)).text();
      expect(page.match(/deleted-by-partner/g)?.length).toBeGreaterThanOrEqual(2);
      expect(page).toContain('qualified');
    });
    expect((await fetch(`${url}/docs`)).status).toBe(200);

    run.child.kill('SIGTERM');
    expect(await run.exited).toBe(0);
    expect(readdirSync(folder).filter((name) => name.startsWith('trackport-'))).toEqual([]);
  },
);

test('its configuration file lets the command line look after it while it runs', SLOW, async () => {
  const run = trackport(['serve', '--port', '0'], { environment: { TMPDIR: temporaryFolder() } });
  const url = await listening(run);
  const config = /Config:\s+(\S+)/.exec(run.stdout())?.[1] ?? '';
  expect(statSync(config).mode & 0o777).toBe(0o600);
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere([...args, '--config', config, '--json']);
    return code === 0 ? (JSON.parse(stdout) as Record<string, unknown>) : { code, stdout, stderr };
  };
  expect(await command('doctor')).toMatchObject({ ok: true });
  const { id, key } = await command('consumer', 'create', 'Desk', '--grant', 'leads:read');
  const headers = { 'x-api-key': String(key) };
  expect((await fetch(`${url}/api/v1/leads`, { headers })).status).toBe(200);
  await command('consumer', 'revoke', String(id));
  await eventually(async () =>
    expect((await fetch(`${url}/api/v1/leads`, { headers })).status).toBe(401),
  );

  paste(['sh'], commandsOf(run.stdout()).split('\n: Get a token')[0] ?? '');

  await eventually(async () => {
    const { items: receipts } = await command('receipt', 'list');
    expect(receipts).toMatchObject([{}, {}, { eventType: 'lead.qualified', status: 'PROCESSED' }]);
  });
  const { items: claims } = await command('claim', 'list');
  expect(claims).toMatchObject([expect.anything(), expect.anything()]);
  run.child.kill('SIGTERM');
  expect(await run.exited).toBe(0);
  expect(existsSync(config)).toBe(false);
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
