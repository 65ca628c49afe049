import { expect, test } from 'vitest';
import type { ReceiptDetail, ReceiptEventDetail } from '#partners/receipts/receipt.ts';
import { certificateCard, receiptView } from '#portal/pages/receipts/receipt-page.ts';
import { remedyOf } from '#portal/pages/receipts/receipt-words.ts';
import { codesOf } from '#shared/outcomes/entry.ts';
import { eventReasons } from '#shared/outcomes/events.ts';
import { flat, hostile, person, viewer } from '../../shell/support.ts';

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
  isProvisional: false,
  names: [],
  history: [],
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
      statusAddress: '/api/v1/receipt-status/abc',
    },
    viewer,
  );

test.each([
  [{ erasure: 'complete' }, 'deleted on the tracker'],
  [{ erasure: 'impossible' }, 'is still on the tracker'],
  [{ erasure: 'impossible', lastError: 'fields-remain' }, 'What the typed fields of'],
  [{ erasure: 'impossible', lastError: 'fields-remain' }, 'clear them by hand.'],
  [{ erasure: undefined }, 'title and body are still on the tracker'],
  [{ erasure: undefined, outcome: 'FAILED' }, 'nothing is known to be erased'],
] as const)('erasure %j reads so', (given, words) => {
  const { erasure: _erasure, ...rest } = done;
  const { erasure, ...more } = given;
  const one = { ...rest, ...more, ...(erasure !== undefined && { erasure }) };
  expect(flat(view([one]))).toContain(words);
});

test('what a rule does is said, fields with the values that they get', () => {
  const setFields = [
    { name: 'Region', value: 'EMEA' },
    { name: 'Products', value: ['A', 'B'] },
  ];
  const labels = { addLabels: ['won'], removeLabels: [], assign: [], comments: true };
  const effect = { ...labels, setFields };
  const history = [{ at: minute(1), what: 'matched', effect }] as const;
  const text = flat(view([{ ...done, history }], { path: 'events', status: 'PROCESSED' }));
  expect(text.replaceAll(/<[^>]+>/g, '')).toMatch(
    /puts on\s*won, sets\s*Region to EMEA,\s*Products to A, B, writes a comment\./,
  );
});

test('nobody found can be replayed while it is kept, and is no promise for later leads', () => {
  const { lastError: _error, ...missed } = event({
    outcome: 'UNMATCHED',
    leadIds: [],
    attempts: 3,
  });
  const text = flat(view([missed], { status: 'UNMATCHED' }));
  expect(text).toContain('1 event found nobody');
  expect(text).toContain('Found nobody</h3>');
  expect(text).toContain('Replay 1 event');
  const gone = flat(view([{ ...missed, isReplayable: false }], { status: 'UNMATCHED' }));
  expect(gone).toContain('Too late to replay it');
  expect(gone).not.toContain('Replay 1 event');
});

const minute = (n: number): number => at + n * 60_000;

test('after a release nothing is said to be hidden, and not that all ended as it should', () => {
  const { erasure: _erasure, ...released } = { ...done, leadIds: ['9'] };
  const one = { ...released, note: 'claim-released' } as const;
  const text = flat(view([one], { status: 'PROCESSED' }));
  expect(text).toContain('no deletion hides it now');
  expect(text).not.toContain('hidden from every reader');
  expect(text).not.toContain('ended as it should');
  expect(text).toContain('An operator gave a lead back');
});

test('a claim that waits for its match is not called a match', () => {
  const { completedAt: _at, ...open } = event({ outcome: 'PENDING', isProvisional: true });
  const text = flat(view([{ ...open, dueAt: viewer.nowMs }], { status: 'ACCEPTED' }));
  expect(text).toContain('Hidden until its match is certain: 1 lead');
  expect(text).not.toContain('Matched 1 lead');
});

test('what is acknowledged asks for nothing any more, and can still be replayed', () => {
  const { lastError: _error, ...missed } = event({ outcome: 'UNMATCHED', leadIds: [] });
  const open = flat(view([missed], { status: 'UNMATCHED' }));
  expect(open).toContain('Acknowledge 1 event</button>');
  const history = [{ at: minute(9), what: 'acknowledged', by: 'ada' }] as const;
  const seen = { ...missed, acknowledgedAt: minute(9), history };
  const text = flat(view([seen], { status: 'UNMATCHED' }));
  expect(text).toContain('<h2 id="verdict">Nothing to do</h2>');
  expect(text).not.toContain('/acknowledge"');
  expect(text).toContain('Replay 1 event</button>');
  expect(text).toContain('Acknowledged by<bdi>ada</bdi>');
});

test('a page of many steps is cut between events', () => {
  const history = Array.from({ length: 50 }, (_, n) => ({
    at: minute(n),
    what: 'missed' as const,
  }));
  const events = [0, 1, 2].map((position) => event({ position, history }));
  const text = flat(view(events));
  expect(text.match(/<article/g)).toHaveLength(1);
  expect(text).toContain('?start=1');
});

test('a lead that nothing hides is not said to be hidden', () => {
  const text = flat(view([event({ leadIds: ['4177', '9'] })]));
  expect(text).toContain('#4177</a>: no reader sees it.');
  expect(text).toContain('href="/portal/claims/4177/release"');
  expect(text).toContain('#9</a>: no deletion hides it now;');
  expect(text).not.toContain('href="/portal/claims/9/release"');
});

test('every code has words and a step, one that is not known says that', () => {
  for (const code of codesOf(eventReasons)) expect(remedyOf(code).means.length).toBeGreaterThan(10);
  expect(remedyOf('constructor').means).toBe('Its meaning is not known here');
});

test('long texts of a partner are cut', () => {
  const wild = hostile.repeat(2000);
  const events = [event({ eventType: wild, eventId: wild, externalId: wild, lastError: hostile })];
  const text = view(events, { correlationId: wild, externalId: wild, eventType: wild });
  expect(text.toString().length).toBeLessThan(15_000);
});

test.each([
  ['deletions', 'none of those that delete', 'add it to deletions.types'],
  ['events', 'No rule of the configuration is for its type', 'unless a rule is missing'],
] as const)(
  'an event of %s that is ignored for its type says what is missing',
  (path, why, step) => {
    const { lastError: _error, ...one } = event({ outcome: 'IGNORED', leadIds: [] });
    const text = flat(view([one], { path, status: 'PROCESSED' }));
    expect(text).toContain(why);
    expect(text).toContain(step);
  },
);

test('an event that found nobody yet says so, and of no attempt that failed', () => {
  const missed = { at, what: 'missed' as const };
  const one = event({ outcome: 'PENDING', history: [missed] });
  const { completedAt: _at, lastError: _error, ...open } = one;
  const text = flat(view([{ ...open, dueAt: viewer.nowMs + 1 }], { status: 'ACCEPTED' }));
  expect(text).toContain('Nobody was found yet. The tracker may show a lead late');
  expect(text).not.toContain('Failed attempts');
});

test('an event that waits for its match has no leads yet, whatever it names', () => {
  const one = event({ outcome: 'PENDING', dueAt: at, isReplayable: false });
  const text = flat(view([one], { path: 'events', status: 'ACCEPTED' }));
  expect(text).toContain('Looking for whom it names');
  expect(text).not.toContain('Matched');
});

test.each([
  [2, [], 'Every consumer that follows the lead feed'],
  [0, [], 'No consumer that could read a lead follows the lead feed'],
  [2, ['Sales'], '1 consumer that could read a lead and follows the lead feed has not'],
  [2, ['Sales Europe', '<b>Sales</b>'], '2 consumers that could read a lead and follow the lead'],
])(
  'of %i consumers that follow, those behind a removal are named: %j',
  (following, behind, words) => {
    const at = '2026-11-20T09:14:00Z';
    const event = { position: 0, receivedAt: at, outcome: 'DONE' as const };
    const readers = { couldRead: 3, following, past: following - behind.length };
    const claims = { iss: '', iat: 0, jti: 'r', sub: 'crm', events: [{ ...event, readers }] };
    const text = flat(certificateCard({ claims, behind }));
    expect(text).toContain(words);
    expect(text).not.toContain('<b>Sales</b>');
  },
);
