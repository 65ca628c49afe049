/** Deletions find what readers were shown, though no webhook told of it and the tracker is away. */
import { SECOND } from '#shared/clock.ts';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { compose, crmOne, openLead, openTracker, sendDeletion } from '../support/world.ts';

const DOWN = { kind: 'status', status: 503, count: Infinity } as const;

test.each(['/api/v1/leads?limit=5', '/api/v1/leads/1'])(
  'a lead that somebody read by %s is hidden with the 202, though no webhook told of it and the tracker is away',
  async (path) => {
    const clock = createFakeClock();
    const tracker = await openTracker({ clock });
    const { url, get } = await compose({
      apiUrl: tracker.url,
      clock,
      settings: { partners: { 'crm-one': crmOne } },
    });
    await eventually(async () => {
      await clock.advance(SECOND);
      const { checks } = (await (await fetch(`${url}/readyz`)).json()) as {
        checks: { directory: { state: string } };
      };
      expect(checks.directory.state).toBe('complete');
    });
    const { number } = openLead(tracker, { email: 'ada@example.com' });
    expect(number).toBe(1);
    expect((await get(path)).status).toBe(200);
    expect((await get('/api/v1/leads/1')).status).toBe(200);

    tracker.fault(DOWN);
    await eventually(async () => {
      await sendDeletion(url, { email: 'ada@example.com' });
      expect((await get('/api/v1/leads/1')).status).toBe(404);
    });
    const list = await get('/api/v1/leads?limit=5');
    expect(await list.text()).not.toContain('ada@example.com');
  },
);
