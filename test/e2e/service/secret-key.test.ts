/** A store of another `secretKey`, from the outside: who is refused, and how a lost key is lived without. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { takeBlock } from '../support/documents.ts';
import { runHere } from '../support/command.ts';
import { configFile, runTrackport } from '../support/process.ts';
import { createWorld, leadBody, sendDeletion, serve } from '../support/world.ts';

const keyOf = (fill: number): string => Buffer.alloc(32, fill).toString('base64');

test('a lost key: others are refused, `store rekey` says what is lost, and what is sent again is done', async () => {
  const { tracker, config } = await createWorld({
    secretKey: keyOf(1),
  });
  const body = leadBody('ada@example.org');
  const { number } = tracker.createIssue({ title: 'Lead', body, labels: ['approved'] });
  const event = { eventId: 'of-ada', email: 'ada@example.org' };
  const first = await serve(config);
  tracker.fault({ kind: 'status', status: 503, method: 'GET', count: 1e6 });
  const sent = await sendDeletion(first.url, event);
  const { id } = (await sent.json()) as { id: string };
  first.run.child.kill('SIGTERM');
  expect(await first.run.exited).toBe(0);

  const content = JSON.parse(readFileSync(config, 'utf8')) as object;
  const other = configFile({ ...content, secretKey: keyOf(2) });
  const run = (...args: string[]) => runHere([...args, '--config', other]);
  const start = ['serve', '--port', '0', '--config', other];
  for (const refused of [
    await runTrackport(start),
    await run('receipt', 'list'),
    await run('migrate'),
  ]) {
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('secretKey: found another key, expected the key that');
    expect(refused.stderr).toContain('trackport store rekey');
  }
  const block = takeBlock('docs/operations.md', 'trackport store rekey');
  const rekey = block.trim().replace('trackport ', '').replace(' --config trackport.yaml', '');
  const unsure = await run(...rekey.split(' '));
  expect(unsure.code).toBe(1);
  expect(unsure.stdout).toContain(id);
  expect(unsure.stderr).toContain('Nothing was changed: add --yes.');
  const done = await run('store', 'rekey', '--yes', '--json');
  expect(done.code).toBe(0);
  expect(JSON.parse(done.stdout)).toEqual({
    lost: [{ id, partnerId: 'crm-one', receivedAt: expect.stringMatching(/Z$/) }],
  });

  tracker.clearFaults();
  const second = await serve(other);
  const { stdout } = await eventually(async () => {
    const shown = await run('receipt', 'show', id, '--json');
    expect(shown.stdout).toContain('payload-unreadable');
    return shown;
  });
  expect(stdout).toContain('FAILED');
  expect((await sendDeletion(second.url, event)).status).toBe(202);
  await eventually(() => expect(tracker.readIssue(number)?.state).toBe('closed'));
  second.run.child.kill('SIGTERM');
  expect(await second.run.exited).toBe(0);
});
