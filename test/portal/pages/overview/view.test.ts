import { describe, expect, test } from 'vitest';
import type { Operation } from '#portal/pages/overview/alerts.ts';
import { toHealthLine } from '#portal/pages/overview/health-lines.ts';
import { type Overview, overviewView } from '#portal/pages/overview/overview-page.ts';
import { receiptsQuery } from '#portal/pages/receipts/receipt-filters.ts';
import type { PartState } from '#shared/outcomes/health.ts';
import { flat, viewer } from '../../shell/support.ts';

/** The start of the hours of a picture, oldest first, the last one being the hour that runs. */
function hoursUntil(nowMs: number, hours: number): number[] {
  const last = Math.floor(nowMs / 3_600_000) * 3_600_000;
  return Array.from({ length: hours }, (_, at) => last - (hours - 1 - at) * 3_600_000);
}

const { nowMs } = viewer;
const MINUTE = 60_000;

const line = (name: string, state: PartState = 'ok', detail?: string) =>
  toHealthLine(name, { isReady: true, state, ...(detail !== undefined && { detail }) }, viewer);

const operation: Operation = {
  open: 0,
  oldestMs: undefined,
  week: {},
  callerAlerts: [],
  hours: hoursUntil(nowMs, 24).map((startMs) => ({ startMs, counts: {} })),
  newest: { FAILED: [], UNMATCHED: [], REJECTED: [] },
};

const well: Overview = {
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

const page = (given: Partial<Overview> = {}) =>
  flat(overviewView({ ...well, ...given }, viewer).body);

const verdictIn = (text: string) => /<h2 id="verdict">([^<]*)</.exec(text)?.[1];

test('when nothing is amiss the first words say so', () => {
  const text = page();
  expect(verdictIn(text)).toBe('All is well');
  expect(text).toContain('Store, tracker, worker, issuer, and webhook are well.');
  expect(text).not.toContain('Next steps');
});

test.each<[string, PartState, string]>([
  ['tracker', 'unknown', 'Tracker: not known yet. Store and webhook are well.'],
  ['directory', 'crawling', 'Directory: being filled. Store and webhook are well.'],
])('while the %s is %s, not all is well', (name, state, words) => {
  const text = page({ lines: [line('store'), line(name, state)] });
  expect(verdictIn(text)).toBe('Nothing is amiss, but not all is known yet');
  expect(text).toContain(words);
});

const refused = { count: 12, reason: 'signature-wrong', lastAt: nowMs - 4 * MINUTE };

test.each<[string, Partial<Overview>, string]>([
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
    '5 events found nobody',
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
  [
    'a webhook whose last delivery was refused',
    { webhook: { ...well.webhook, lastAt: nowMs - 5 * MINUTE, refused } },
    'The tracker’s webhook is refused',
  ],
  [
    'a webhook that was accepted after it was refused',
    { webhook: { ...well.webhook, refused } },
    'All is well',
  ],
  [
    'a webhook that was silent for a week',
    { webhook: { ...well.webhook, lastAt: nowMs - 8 * 24 * 60 * MINUTE } },
    'The tracker’s webhook has not come for a week',
  ],
  ['a worker that stands by', { lines: [line('store'), line('worker', 'standby')] }, 'All is well'],
])('with %s the first words say that', (_, given, heading) => {
  expect(verdictIn(page(given))).toBe(heading);
});

test('what stops deletions comes before what can wait, and the rest stands below', () => {
  const lines = [line('issuer', 'failing'), line('store'), line('worker', 'paused')];
  const text = page({ lines, operation: { ...operation, week: { UNMATCHED: 1 } } });
  expect(verdictIn(text)).toBe('The tracker does not let deletions be worked on');
  expect(text).toContain(
    '1 event found nobody. The issuer does not respond. Store and webhook are well.',
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
    ['network (ECONNREFUSED)', 'See that this machine reaches it'],
  ])('says since when, that it is %s, what goes on, and the next step', (cause, step) => {
    const text = verdictText(failing(cause));
    expect(text).toContain('21 Nov 13:31</time>');
    expect(text).toContain(`Last cause: ${cause}.`);
    expect(text).toContain('Leads come from the cache meanwhile, for leads.staleIfError at most');
    expect(text).toContain(`Next step: ${step}`);
  });

  test('is not contradicted by a directory that is called complete', () => {
    const text = failing('server (503)');
    expect(text).toContain('The lead directory is not kept up.');
    expect(text).not.toContain('Complete');
  });
});

test('a paused worker beside a tracker that fails does not say that all leads are read', () => {
  const lines = [
    line('tracker', 'failing', 'Last cause: unauthorized (401).'),
    line('worker', 'paused', 'unauthorized.'),
  ];
  expect(page({ lines })).not.toContain('read as ever');
});

test('the verdict on a store that is away says what goes on, and the next step', () => {
  const detail = 'The store has no space left.';
  const text = page({ lines: [line('store', 'unavailable', detail)] });
  for (const said of [detail, 'for partners to send again', 'Next step: Look at its disk'])
    expect(text).toContain(said);
});

test('an open deletion is as old as it is, never older', () => {
  const text = page({ operation: { ...operation, open: 1, oldestMs: 60 * MINUTE - 1 } });
  expect(text).toContain('<dd>59<small>min</small></dd>');
  expect(verdictIn(text)).toBe('All is well');
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
