import { expect, test } from 'vitest';
import { eventErrorCodes } from '#partners/receipts/event-error.ts';
import type { ReceiptDetail, ReceiptEventDetail } from '#partners/receipts/receipt.ts';
import { receiptView } from '#portal/pages/receipts/receipt-view.ts';
import { remedyOf } from '#portal/pages/receipts/remedies.ts';
import { flat, hostile, isInert, person, reader } from '../../shell/support.ts';

const at = Date.parse('2026-11-20T09:14:02Z');

const event = (given: Partial<ReceiptEventDetail> = {}): ReceiptEventDetail => ({
  position: 0,
  eventType: 'contact.privacyDeletion',
  outcome: 'FAILED',
  leadIds: ['4177'],
  attempts: 11,
  lastError: 'locked',
  completedAt: Date.parse('2026-11-21T08:38:40Z'),
  isReplayable: true,
  ...given,
});

const done = event({
  position: 1,
  outcome: 'DONE',
  leadIds: ['4182'],
  attempts: 2,
  lastError: 'tracker-server',
  erasure: 'incomplete-history',
  isReplayable: false,
});

const view = (events: ReceiptEventDetail[], given: Partial<ReceiptDetail> = {}) =>
  receiptView(
    {
      receipt: {
        id: '0193500e-7a52-7c1d-9b7e-2f6d5b0f3c1e',
        partnerId: 'halden-crm',
        path: 'deletions',
        eventType: 'batch',
        correlationId: 'halden-2026-11-20-0914',
        status: 'FAILED',
        receivedAt: at,
        events,
        ...given,
      },
      person,
      leads: {
        issueAddress: (number) => `https://tracker.example.com/acme/leads/issues/${number}`,
        claimed: new Set(['4177', '4182']),
      },
      start: 0,
      entries: [],
      statusAddress: '/api/v1/receipt-status/abc',
    },
    reader,
  );

test('a dead letter says what to do, why, when it ended and how long it can be replayed', () => {
  const text = flat(view([event(), done]));
  expect(text).toContain('<h2 id="verdict">Unlock the issue, then replay</h2>');
  expect(text).toContain('The issue takes no comments.');
  expect(text).toContain('href="https://tracker.example.com/acme/leads/issues/4177">Open #4177');
  expect(text).toContain('Replay 1 event</button>');
  expect(text).toContain('Attempts 1 to 11 failed, the last with<code>locked</code>');
  expect(text).toContain('Now a dead letter</h3><time datetime="2026-11-21T08:38:40Z"');
  expect(text).toContain('Can be replayed until then</h3><time datetime="2026-12-21T08:38:40Z"');
});

test('what is done says how many attempts it took, and what is still there', () => {
  const text = flat(view([done], { status: 'PROCESSED' }));
  expect(text).toContain('Nothing to do');
  expect(text).toContain('Attempt 1 failed:<code>tracker-server</code>');
  expect(text).toContain('Done at attempt 2');
  expect(text).toContain('Incomplete: history');
  expect(text).toContain('The old text is still in each issue’s edit history');
});

test.each([
  [{ erasure: 'complete' }, 'deleted on the tracker'],
  [{ erasure: 'impossible' }, 'is still on the tracker'],
  [{ erasure: undefined }, 'title and body are still on the tracker'],
  [{ erasure: undefined, outcome: 'FAILED' }, 'nothing is known to be erased'],
] as const)('erasure %j reads so', (given, words) => {
  const { erasure: _erasure, ...rest } = done;
  const { erasure, ...more } = given;
  const one = { ...rest, ...more, ...(erasure !== undefined && { erasure }) };
  expect(flat(view([one]))).toContain(words);
});

test('what waits says why it waits and when it is tried next', () => {
  const dueAt = reader.nowMs + 60_000;
  const { completedAt: _at, ...open } = event({
    outcome: 'PENDING',
    attempts: 3,
    isReplayable: false,
  });
  const text = flat(view([{ ...open, dueAt }], { status: 'ACCEPTED' }));
  expect(text).toContain('1 event under way');
  expect(text).toContain('Next attempt</h3><time datetime="2026-11-21T14:03:10Z"');
  expect(text).not.toContain('/replay');
});

test('what waits for its partner names what to do, and does not say that there is nothing', () => {
  const { completedAt: _at, ...open } = event({ outcome: 'PENDING', lastError: 'partner-unknown' });
  const text = flat(view([{ ...open, dueAt: reader.nowMs }], { status: 'ACCEPTED' }));
  expect(text).toContain('Put the partner into the file');
  expect(text).not.toContain('Nothing to do');
});

test('nobody found can be replayed while it is kept, and is no promise for later leads', () => {
  const { lastError: _error, ...missed } = event({
    outcome: 'UNMATCHED',
    leadIds: [],
    attempts: 3,
  });
  const text = flat(view([missed], { status: 'UNMATCHED' }));
  expect(text).toContain('1 event found nobody');
  expect(text).toContain('Names nobody we know, after 3 looks');
  expect(text).toContain('Replay 1 event');
  const gone = flat(view([{ ...missed, isReplayable: false }], { status: 'UNMATCHED' }));
  expect(gone).toContain('Can be replayed no more');
  expect(gone).not.toContain('Replay 1 event');
});

test('a lead that nothing hides is not said to be hidden', () => {
  const text = flat(view([event({ leadIds: ['4177', '9'] })]));
  expect(text).toContain('#4177</a>: no reader sees it.');
  expect(text).toContain('href="/portal/claims/4177/release"');
  expect(text).toContain('#9</a>: no deletion hides it now;');
  expect(text).not.toContain('href="/portal/claims/9/release"');
});

test('every code has words and a step, one that is not known says that', () => {
  for (const code of eventErrorCodes) expect(remedyOf(code).means.length).toBeGreaterThan(10);
  expect(remedyOf('constructor').means).toBe('Its meaning is not known here');
});

test('nothing that a partner sent becomes markup, and long texts are cut', () => {
  const wild = hostile.repeat(2000);
  const events = [event({ eventType: wild, eventId: wild, externalId: wild, lastError: hostile })];
  const text = view(events, { correlationId: wild, externalId: wild, eventType: wild });
  expect(isInert(text)).toBe(true);
  expect(text.toString().length).toBeLessThan(15_000);
});
