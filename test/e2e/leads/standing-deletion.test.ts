/** A deletion stands: the whole service, and a person who is learnt after the deletion. */
import { SECOND } from '#shared/clock.ts';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import {
  compose,
  crmOne,
  leadBody,
  openLead,
  openTracker,
  sendDeletion,
} from '../support/world.ts';

type Status = { events: { outcome: string }[] };

test('a deletion that found nobody takes the lead that gets the address later, under the same receipt', async () => {
  const clock = createFakeClock();
  const tracker = await openTracker({ clock });
  const { number } = openLead(tracker, { email: 'slip@example.com' });
  const { url, get } = await compose({
    apiUrl: tracker.url,
    clock,
    settings: { partners: { 'crm-one': crmOne } },
  });
  const statusOf = async (location: string) => {
    const status = (await (await fetch(new URL(new URL(location).pathname, url))).json()) as Status;
    return status.events[0]?.outcome;
  };
  const goOnUntil = (isSo: () => Promise<void>) =>
    eventually(async () => {
      await clock.advance(SECOND);
      await isSo();
    });
  const sent = await sendDeletion(url, { eventId: 'first', email: 'ada@example.com!' });
  const location = sent.headers.get('location') ?? '';
  await goOnUntil(async () => expect(await statusOf(location)).toBe('UNMATCHED'));
  expect((await get(`/api/v1/leads/${number}`)).status).toBe(200);

  // No webhook tells of the edit: the catch-up for another deletion learns it.
  tracker.editIssue(number, { body: leadBody('„ada@example.com“') });
  await sendDeletion(url, { eventId: 'second', email: 'nobody@example.com' });
  await goOnUntil(async () => expect(await statusOf(location)).toBe('DONE'));
  expect((await get(`/api/v1/leads/${number}`)).status).toBe(404);
  expect(tracker.readIssue(number)?.state).toBe('closed');
});
