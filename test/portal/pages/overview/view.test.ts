import { toHealthLine } from '#portal/pages/overview/health-lines.ts';
import { receiptsQuery } from '#portal/pages/receipts/names.ts';
import { type OverviewFacts, overviewPage } from '#portal/pages/overview/view.ts';
import type { Operation } from '#portal/pages/overview/needs.ts';
import type { Outcome } from '#partners/receipts/receipt.ts';
import type { ReceiptDetailOut } from '#partners/receipts/receipt-out.ts';
import { describe, expect, test } from 'vitest';
import { flat, hoursUntil, viewer } from '../../shell/support.ts';

const { nowMs } = viewer;
const MINUTE = 60_000;

const line = (name: string, state = 'ok', detail?: string) =>
  toHealthLine(name, { isReady: true, state, ...(detail !== undefined && { detail }) }, viewer);

/** A receipt with one event of this outcome, as the list of the newest has it. */
const ended = (outcome: Outcome, event: object = {}, own: object = {}) =>
  ({
    id: '5b0f3c1e-7a52-4c1d-9b7e-2f6d1c9ae804',
    partnerId: 'tessera',
    receivedAt: new Date(nowMs).toISOString(),
    events: [{ outcome, leadIds: [], names: [], ...event }],
    ...own,
  }) as unknown as ReceiptDetailOut;

const operation: Operation = {
  open: 0,
  oldestMs: undefined,
  week: {},
  worries: [],
  hours: hoursUntil(nowMs, 24).map((startMs) => ({ startMs, counts: {} })),
  newest: { FAILED: [], UNMATCHED: [], REJECTED: [] },
};

const well: OverviewFacts = {
  lines: [line('store'), line('tracker'), line('worker'), line('issuer')],
  quota: { limit: 5000, remaining: 4212, resetAt: nowMs + 30 * MINUTE },
  trackerFailure: undefined,
  webhook: {
    url: 'https://adapter.example.com/api/v1/webhooks/github',
    hasSecret: true,
    isKnown: true,
    lastAt: nowMs - 22_000,
    refused: undefined,
  },
  operation,
  feed: { newestAt: undefined, listeners: 1 },
  hasReadyz: true,
  withIgnored: false,
};

const page = (given: Partial<OverviewFacts> = {}) =>
  flat(overviewPage({ ...well, ...given }, viewer).body);

const verdictIn = (text: string) => /<h2 id="verdict">([^<]*)</.exec(text)?.[1];

test('when nothing is amiss the first words say so', () => {
  const text = page();
  expect(verdictIn(text)).toBe('All is well');
  expect(text).toContain('Store, tracker, worker, issuer, and webhook are well.');
  expect(text).not.toContain('Next steps');
});

test.each([
  ['tracker', 'unknown', 'Tracker: not known yet. Store and webhook are well.'],
  ['directory', 'crawling', 'Directory: being filled. Store and webhook are well.'],
])('while the %s is %s, not all is well', (name, state, words) => {
  const text = page({ lines: [line('store'), line(name, state)] });
  expect(verdictIn(text)).toBe('Nothing is amiss, but not all is known yet');
  expect(text).toContain(words);
});

test('a worker that stands by is as it should be', () => {
  expect(verdictIn(page({ lines: [line('store'), line('worker', 'standby')] }))).toBe(
    'All is well',
  );
});

test.each<[string, Partial<OverviewFacts>, string]>([
  [
    'dead letters',
    { operation: { ...operation, week: { FAILED: 2 } } },
    '2 deletions need a person',
  ],
  [
    'a deletion older than an hour',
    { operation: { ...operation, open: 1, oldestMs: 65 * MINUTE } },
    'A deletion has waited for 1 h 5 min',
  ],
  [
    'unmatched events',
    { operation: { ...operation, week: { UNMATCHED: 5 } } },
    '5 events matched no lead',
  ],
  [
    'rejected events',
    { operation: { ...operation, week: { REJECTED: 1 } } },
    '1 event could not be used',
  ],
  [
    'a paused worker',
    { lines: [line('worker', 'paused')] },
    'The tracker does not let deletions be worked on',
  ],
  [
    'a partner that the configuration lacks',
    { lines: [line('worker', 'lacking')] },
    'Deletions wait for a partner that the configuration lacks',
  ],
  ['an issuer away', { lines: [line('issuer', 'failing')] }, 'The issuer does not respond'],
  [
    'a tracker away',
    { lines: [line('tracker', 'failing')] },
    'The tracker does not respond as it should',
  ],
  [
    'no webhook yet',
    { webhook: { ...well.webhook, lastAt: undefined } },
    'The tracker’s webhook has never come',
  ],
])('with %s the first words say that', (_, given, heading) => {
  expect(verdictIn(page(given))).toBe(heading);
});

test('what stops deletions comes before what can wait, and the rest stands below', () => {
  const lines = [line('issuer', 'failing'), line('store'), line('worker', 'paused')];
  const text = page({ lines, operation: { ...operation, week: { UNMATCHED: 1 } } });
  expect(verdictIn(text)).toBe('The tracker does not let deletions be worked on');
  expect(text).toContain(
    '1 event matched no lead. The issuer does not respond. Store and webhook are well.',
  );
});

test('a store that is away is the verdict, and nothing is said that only it knows', () => {
  const store = toHealthLine('store', { isReady: false, state: 'unavailable' }, viewer);
  const webhook = { ...well.webhook, isKnown: false, lastAt: undefined };
  const text = page({ lines: [store], webhook, operation: undefined });
  expect(verdictIn(text)).toBe('The store cannot be used');
  expect(text).toContain('Not known now');
  expect(text).not.toContain('never come');
});

test('the tracker’s last failure stays to be seen after it is well again', () => {
  const text = page({ trackerFailure: { cause: 'server (502)', at: nowMs - 60 * MINUTE } });
  expect(text).toContain('Last failure<time datetime="2026-11-21T13:02:10Z"');
  expect(text).toContain(': server (502).');
});

describe('the verdict on a tracker that fails', () => {
  const failing = (cause: string) =>
    page({
      lines: [
        line(
          'tracker',
          'failing',
          `Calls have failed since 2026-11-21T13:31:00Z. Last cause: ${cause}.`,
        ),
        line('directory', 'complete', '12 issues seen. Last failure: tracker-unavailable.'),
        line('store'),
      ],
    });
  const verdictText = (text: string) => /<h2 id="verdict">.*?<p>(.*?)<\/p>/s.exec(text)?.[1] ?? '';

  test.each([
    ['unauthorized (401)', 'Replace tracker.auth and send SIGHUP'],
    ['forbidden (403)', 'Give the credential the right to issues'],
    ['repository-missing (404)', 'See that tracker.repository is its name still'],
    ['issues-disabled (410)', 'Switch issues on'],
    ['version-retired (410)', 'Update Trackport'],
    ['network (ECONNREFUSED)', 'See that this machine reaches it'],
    ['timeout', 'See that this machine reaches it'],
    ['server (503)', 'See its status page'],
    ['limited (429)', 'Wait: it is asked again'],
  ])('says since when, that it is %s, what goes on, and the next step', (cause, step) => {
    const text = verdictText(failing(cause));
    expect(text).toContain('21 Nov 13:31</time>');
    expect(text).toContain(`Last cause: ${cause}.`);
    expect(text).toContain('Leads come from the cache meanwhile');
    expect(text).toContain(`Next step: ${step}`);
  });

  test('is not contradicted by a directory that is called complete', () => {
    const text = failing('server (503)');
    expect(text).toContain('The lead directory is not kept up.');
    expect(text).not.toContain('Complete');
  });
});

test('the verdict on a paused worker says since when and why, and the next step', () => {
  const detail =
    'The tracker does not let us write: unauthorized. Paused since 2026-11-21T13:31:00Z.';
  const text = page({ lines: [line('worker', 'paused', detail)] });
  for (const said of ['unauthorized.', '21 Nov 13:31</time>', 'nothing is lost', 'send SIGHUP'])
    expect(text).toContain(said);
});

test('an open deletion is as old as it is, never older', () => {
  const text = page({ operation: { ...operation, open: 1, oldestMs: 60 * MINUTE - 1 } });
  expect(text).toContain('<dd>59<small>min</small></dd>');
  expect(verdictIn(text)).toBe('All is well');
});

test('a webhook that never came is explained with the exact address', () => {
  const webhook = { ...well.webhook, lastAt: undefined };
  const text = page({ webhook }).replaceAll('<wbr />', '');
  expect(text).toContain('<code>https://adapter.example.com/api/v1/webhooks/github</code>');
  expect(text).toContain('application/json');
  expect(text).toContain('Issues, Labels, Repositories');
  expect(page({ webhook: { ...webhook, hasSecret: false } })).toContain('openssl rand -hex 32');
  expect(page()).not.toContain('Payload URL');
});

const refused = { count: 12, reason: 'signature-wrong', lastAt: nowMs - 4 * MINUTE };

test('a webhook whose last delivery was refused is amiss, with the reason and the next step', () => {
  const webhook = { ...well.webhook, lastAt: nowMs - 5 * MINUTE, refused };
  const text = page({ webhook });
  expect(verdictIn(text)).toBe('The tracker’s webhook is refused');
  expect(text).toContain('href="#set-up">Set it right');
  expect(text).toContain('12 deliveries refused in 30 days, the last<time');
  expect(text).toContain('(signature wrong). Check the secret');
  expect(text).toContain('Payload URL');
  expect(text).not.toContain('never come');
});

test('a delivery that was accepted later makes a refused one history', () => {
  const text = page({ webhook: { ...well.webhook, refused } });
  expect(verdictIn(text)).toBe('All is well');
  expect(text).toContain('12 others refused in 30 days.');
  expect(text).not.toContain('Payload URL');
});

test('a webhook that was silent for a week is amiss', () => {
  const webhook = { ...well.webhook, lastAt: nowMs - 8 * 24 * 60 * MINUTE };
  expect(verdictIn(page({ webhook }))).toBe('The tracker’s webhook has not come for a week');
});

test('each dead letter leads to its receipt and says what to do', () => {
  const letter = ended('FAILED', { lastError: 'locked', leadIds: ['4177'] });
  const unmatched = ended('UNMATCHED', { names: ['email'] });
  const newest = { FAILED: [letter], UNMATCHED: [unmatched], REJECTED: [] };
  const text = page({ operation: { ...operation, week: { FAILED: 1, UNMATCHED: 5 }, newest } });
  expect(text).toContain('href="/portal/receipts/5b0f3c1e-7a52-4c1d-9b7e-2f6d1c9ae804"');
  expect(text).toContain('Issue #4177: Unlock the issue, then replay.');
  expect(text).toContain('Ask the partner for another e-mail of the person');
  expect(text).toContain(
    'href="/portal/receipts?outcome=UNMATCHED&amp;acknowledged=no&amp;from=2026-11-14">See all 5',
  );
});

test('events that were of no use lead to their list and say whose turn it is', () => {
  const newest = { ...operation.newest, REJECTED: [ended('REJECTED')] };
  const text = page({ operation: { ...operation, week: { REJECTED: 2 }, newest } });
  expect(text).toContain('Tell the partner');
  expect(text).toContain(
    'href="/portal/receipts?outcome=REJECTED&amp;acknowledged=no&amp;from=2026-11-14">See all 2',
  );
});

test('the list of receipts takes every filter that leads to it', () => {
  const operationLate = {
    ...operation,
    week: { FAILED: 1, UNMATCHED: 1, REJECTED: 1 },
    oldestMs: 61 * MINUTE,
  };
  const text = page({ operation: operationLate });
  const links = [...text.matchAll(/href="(\/portal\/receipts\?[^"]+)"/g)].map(
    ([, href = '']) => href,
  );
  expect(links.length).toBeGreaterThan(3);
  for (const href of links) {
    const { searchParams } = new URL(href.replaceAll('&amp;', '&'), 'https://a.example.com');
    expect(receiptsQuery.safeParse(Object.fromEntries(searchParams)).error).toBeUndefined();
  }
});
