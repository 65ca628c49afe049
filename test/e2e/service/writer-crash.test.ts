/** The thread that writes the store crashes: the process ends, and what it acknowledged is there. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createWorld, leadBody, listLeads, serve } from '../support/world.ts';

const PARTNER_SECRET = 'a-partner-secret-of-this-test';
const settings = {
  partners: { 'crm-one': { scheme: 'hmac-sha256', secrets: [PARTNER_SECRET] } },
};
const preload = new URL('../support/crash-writer.ts', import.meta.url);

async function deleteLead(url: string, number: number): Promise<number> {
  const body = JSON.stringify({ leadId: String(number), email: 'ada@example.org' });
  const signature = createHmac('sha256', PARTNER_SECRET).update(body).digest('hex');
  const response = await fetch(`${url}/api/v1/webhooks/partners/crm-one/deletions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-partner-signature': `sha256=${signature}`,
    },
    body,
  });
  return response.status;
}

test('a crash of the writing thread ends the process, and nothing acknowledged is lost', async () => {
  const { tracker, config, key } = await createWorld(settings);
  const makeLead = (email: string) =>
    tracker.createIssue({ title: 'Lead', body: leadBody(email), labels: ['approved'] });
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
