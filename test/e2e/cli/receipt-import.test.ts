/** Output for an operator when a file is brought in, and about files that cannot be. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { connectTo } from '../../support/stores.ts';
import { writeMigratedStore } from '../../support/migrated-store.ts';
import { runHere } from '../support/command.ts';
import { configFile } from '../support/process.ts';
import { crmOne } from '../support/world.ts';

function setUp() {
  const folder = temporaryFolder();
  const store = path.join(folder, 'trackport.db');
  const config = configFile({
    store: { url: `sqlite:${store}` },
    tracker: { repository: 'acme/leads', auth: { token: 't' } },
    partners: { 'crm-one': { ...crmOne, deletions: { types: ['gone'] } } },
  });
  writeMigratedStore(store);
  const file = path.join(folder, 'missed');
  const run = (...options: string[]) => {
    const given = options.length > 0 ? options : OPTIONS;
    return runHere(['receipt', 'import', file, ...given, '--config', config]);
  };
  const list = async () => (await runHere(['receipt', 'list', '--config', config])).stdout;
  return { store, file, run, list };
}

const OPTIONS = ['--partner', 'crm-one', '--path', 'deletions'];

describe('a file that cannot be brought in', () => {
  test.each<[what: string, make: (file: string) => void, message: string]>([
    ['that is not there', () => undefined, 'cannot be read (ENOENT)'],
    ['that is a folder', (file) => mkdirSync(file), 'is no file that can be read twice'],
    [
      'that is a pipe, which nobody waits for',
      (file) => expect(spawnSync('mkfifo', [file]).status).toBe(0),
      'is no file that can be read twice',
    ],
    ['that is compressed', (file) => writeFileSync(file, gzipSync('{}')), 'unpack it first'],
    ['that is an archive', (file) => writeFileSync(file, 'PK\u0003\u0004...'), 'ZIP archive'],
    ['in UTF-16', (file) => writeFileSync(file, '\uFEFF{}', 'utf16le'), 'save it as UTF-8'],
  ])('%s is told so', async (_what, make, message) => {
    const { file, run } = setUp();
    make(file);
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  test.each<[what: string, content: string | Buffer, message: string]>([
    ['of commas', 'id,email\n1,a@b.example\n', 'Line 1 cannot be read. This is not one JSON text.'],
    ['of an object over many lines', '{\n"a": 1\n}\n', 'Line 1 cannot be read.'],
    ['with what is no event', '{}\n3\n', 'Line 2 cannot be read. The body must be an object'],
    ['with a name that stands twice', '{}\n{"a":1,"a":2}', 'Line 2 cannot be read. The name `a`'],
    ['with bytes that are no UTF-8', Buffer.from('7b7d0aff0a', 'hex'), 'Line 2 cannot be read.'],
    ['with a batch that is too large', `[${'{},'.repeat(500)}{}]\n{}`, 'at most 500 events'],
    ['with an event that is too large', `{"a":"${'x'.repeat(1024 * 1024)}"}`, 'is longer than'],
    ['that was cut off', '[{"eventType":"gone"},{"eventType":', 'Element 2 cannot be read.'],
  ])('%s is told where', async (_what, content, message) => {
    const { file, run, list } = setUp();
    writeFileSync(file, content);
    const { code, stdout, stderr } = await run();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain('Nothing was taken.');
    expect(await list()).toContain('No receipt yet');
  });

  test.each([
    [['--partner', 'crm-two', '--path', 'events'], '--partner names one of the configuration (crm'],
    [['--partner', 'crm-one', '--path', 'both'], '--path is events or deletions, not "both"'],
    [['--partner', 'crm-one'], ''],
  ])('by %j is told what to write', async (options, message) => {
    const { file, run } = setUp();
    writeFileSync(file, '{}');
    const { code, stderr } = await run(...options);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

test('a person reads what became of each delivery, and what to do next', async () => {
  const { file, run } = setUp();
  const lines = [
    { eventType: 'gone', eventId: '1', leadId: '7' },
    { eventType: 'gone', eventId: '2', email: 'a@b.example' },
    { eventType: 'gone', eventId: '3' },
    [],
    [{ eventType: 'else' }, { eventType: 'gone', eventId: '1', leadId: '7' }],
    { eventType: 'gone', eventId: '1', leadId: '7' },
  ];
  writeFileSync(file, JSON.stringify(lines));
  const foreseen = await run(...OPTIONS, '--dry-run');
  expect(foreseen.stdout).toBe(
    [
      '1: 1 new, of 1 lead',
      '2: 1 new, of nobody who is known',
      '3: 1 REJECTED',
      '4: holds no event',
      '5: 1 IGNORED',
      '6: came before',
      'deliveries            6',
      'came before           1',
      'events of the others  2 new, 1 IGNORED, 1 REJECTED\n',
    ].join('\n'),
  );
  expect(foreseen.stderr).toContain(
    '1 event of an unknown time, the first at 2: a lead of the same person',
  );
  expect(foreseen.stderr).toContain('Nothing was changed. To bring them in, leave --dry-run out.');
  const { code, stdout, stderr } = await run();
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: foreseen.stdout.split('\n').slice(-4).join('\n'),
  });
  for (const words of [
    'IGNORED: No rule is for its type',
    'REJECTED: It cannot be used',
    '2 events wait for the service that runs, and the leads that are named are hidden now.',
    'trackport receipt list --partner crm-one',
  ])
    expect(stderr).toContain(words);
});

test('a file without a delivery is said to hold none', async () => {
  const { file, run } = setUp();
  writeFileSync(file, '\n');
  expect(await run()).toEqual({
    code: 0,
    stdout: '',
    stderr: 'The file holds no delivery: nothing was done.\n',
  });
  const { stdout } = await run(...OPTIONS, '--json');
  expect(JSON.parse(stdout)).toEqual({ receipts: [] });
});

test('what was taken before the store failed is one JSON document', async () => {
  const { store, file, run } = setUp();
  const database = connectTo(store);
  await database.exec(
    `CREATE TRIGGER full BEFORE INSERT ON receipt WHEN (SELECT count(*) FROM receipt) = 100
     BEGIN SELECT RAISE(ABORT, 'full'); END`,
  );
  const lines = Array.from({ length: 101 }, (_, at) => ({
    eventType: 'gone',
    eventId: `${at}`,
    leadId: '7',
  }));
  writeFileSync(file, JSON.stringify(lines));
  const { code, stdout, stderr } = await run(...OPTIONS, '--json');
  expect([code, stderr]).toEqual([1, expect.stringContaining('CONSTRAINT_TRIGGER')]);
  const { receipts } = JSON.parse(stdout) as { receipts: unknown[] };
  expect(receipts).toHaveLength(100);
});
