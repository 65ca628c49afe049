/** The thread that writes the store crashes: the process ends, and what it acknowledged is there. */
import { expect, test } from 'vitest';
import { createWorld, listLeads, openLead, sendDeletion, serve } from '../support/world.ts';

const preload = new URL('../support/crash-writer.ts', import.meta.url);

async function deleteLead(url: string, number: number): Promise<number> {
  const event = { leadId: String(number), email: 'ada@example.org' };
  return (await sendDeletion(url, event)).status;
}

test('a crash of the writing thread ends the process, and nothing acknowledged is lost', async () => {
  const { tracker, config, key } = await createWorld();
  const makeLead = (email: string) => openLead(tracker, { email });
  const [deleted, stays] = [makeLead('ada@example.org'), makeLead('bob@example.org')];
  const { run, url } = await serve(config, { preload });
  tracker.hold({ method: 'PATCH' }); // the deletion is never acted on: only its claim is there
  expect(await deleteLead(url, deleted.number)).toBe(202);

  run.child.kill('SIGUSR2');
  expect(await run.exited).toBe(1);
  const line = run.log().find(({ msg }) => msg === 'the writing thread has crashed');
  expect(line).toMatchObject({ level: 'error', error: 'RangeError' });
  for (const output of [run.stdout(), run.stderr()]) {
    expect(output).not.toContain('a test wanted this');
    expect(output).not.toContain('ada@example.org');
  }

  const next = await serve(config);
  const ids = (await listLeads(next.url, key)).map(({ id }) => Number(id));
  expect(ids).toEqual([stays.number]);
});
