import { describe, expect, test } from 'vitest';
import type { Issue, TrackerEvent } from '#leads/lead-tracker.ts';
import { createRecentEvents, lagsBehind, supersedes } from '#leads/reading/recent-events.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { plainIssue } from '../../support/directory.ts';

const HOUR = 3_600_000;

function eventOf(number: number, title = 'Lead', updatedAt = 0): TrackerEvent {
  const issue = plainIssue({ number, title, updatedAt, labels: ['approved'] });
  return { kind: 'issue', issue, isGone: false };
}

/** A clock that knows how often it was asked: every event that is looked at is asked for its age. */
function createCountingClock(): FakeClock & { asked(): number } {
  const clock = createFakeClock();
  let asked = 0;
  return {
    ...clock,
    monotonicMs: () => {
      asked += 1;
      return clock.monotonicMs();
    },
    asked: () => asked,
  };
}

describe('taking an event', () => {
  test.each([
    ['of as many issues', (at: number) => at],
    ['of one issue', () => 1],
  ])('costs the same however many %s came before', (_name, numberOf) => {
    const clock = createCountingClock();
    const events = createRecentEvents(clock, HOUR);
    const takeMany = (count: number): number => {
      const before = clock.asked();
      for (let at = 0; at < count; at += 1) events.take(eventOf(numberOf(at), 'Lead', at));
      return (clock.asked() - before) / count;
    };
    const first = takeMany(100);
    takeMany(5000);
    expect(takeMany(100)).toBeLessThanOrEqual(first + 1);
  });

  test('costs no more when many expire at once than they cost together', async () => {
    const clock = createCountingClock();
    const events = createRecentEvents(clock, HOUR);
    for (let at = 0; at < 3000; at += 1) events.take(eventOf(at));
    await clock.advance(15_000);
    const before = clock.asked();
    for (let at = 0; at < 3000; at += 1) events.take(eventOf(at + 10_000));
    expect(clock.asked() - before).toBeLessThanOrEqual(3000 * 10);
    expect(events.aheadOf(0)).toBeUndefined();
  });
});

describe('what a replica may not have yet', () => {
  test('is the newest event of each issue, for fifteen seconds', async () => {
    const clock = createFakeClock();
    const events = createRecentEvents(clock, HOUR);
    events.take(eventOf(1, 'first', 1));
    await clock.advance(10_000);
    events.take(eventOf(2, 'other', 1));
    events.take(eventOf(1, 'second', 2));
    const titles = (): unknown[] => {
      const seen: unknown[] = [];
      events.someAhead(({ issue }) => {
        seen.push(issue.title);
        return false;
      });
      return seen;
    };
    expect(titles()).toEqual(['second', 'other']);
    expect(events.aheadOf(1)?.issue).not.toHaveProperty('body');
    await clock.advance(14_999);
    expect(titles()).toEqual(['second', 'other']);
    await clock.advance(1);
    expect(titles()).toEqual([]);
    expect(events.aheadOf(1)).toBeUndefined();
    expect(events.of(1)?.issue.title).toBe('second');
  });

  test('is known to be incomplete after more events than are remembered', async () => {
    const clock = createFakeClock();
    const events = createRecentEvents(clock, HOUR);
    for (let number = 1; number <= 20_000; number += 1) events.take(eventOf(number));
    expect(events.hasForgotten()).toBe(false);
    events.take(eventOf(20_001));
    expect(events.hasForgotten()).toBe(true);
    expect(events.aheadOf(1)).toBeUndefined();
    expect(events.aheadOf(2)).toBeDefined();
    await clock.advance(15_000);
    expect(events.hasForgotten()).toBe(false);
  });
});

describe('an issue as fetched beside an event', () => {
  const fetched = plainIssue({ title: 'Lead', labels: ['approved', 'EMEA'], updatedAt: 5000 });
  const eventWith = (facts: Partial<Issue>, isGone = false) => ({
    issue: { ...fetched, ...facts },
    isGone,
  });

  test.each([
    ['of an earlier second', eventWith({ updatedAt: 4000, title: 'Old' }), false, false],
    [
      'of the same second that looks alike',
      eventWith({ labels: ['emea', 'approved'] }),
      false,
      false,
    ],
    ['of the same second with another title', eventWith({ title: 'New' }), true, false],
    ['of the same second with other labels', eventWith({ labels: [] }), true, false],
    ['of the same second with another state', eventWith({ state: 'closed' }), true, false],
    ['of a later second', eventWith({ updatedAt: 6000 }), true, true],
    ['that it is gone, whenever', eventWith({ updatedAt: 0 }, true), true, true],
  ])('%s', (_name, event, lags, isSuperseded) => {
    expect(lagsBehind(fetched, event)).toBe(lags);
    expect(supersedes(event, fetched)).toBe(isSuperseded);
  });

  test('is superseded by none', () => {
    expect(supersedes(undefined, fetched)).toBe(false);
  });
});

describe('the events of one issue', () => {
  test('an older one that arrives late replaces nothing', () => {
    const events = createRecentEvents(createFakeClock(), HOUR);
    events.take(eventOf(1, 'new', 2));
    events.take(eventOf(1, 'old', 1));
    expect(events.of(1)?.issue.title).toBe('new');
  });

  test('none comes after its end', () => {
    const events = createRecentEvents(createFakeClock(), HOUR);
    const end = eventOf(1, 'last', 1);
    events.take(end.kind === 'issue' ? { ...end, isGone: true } : end);
    events.take(eventOf(1, 'later', 2));
    expect(events.of(1)).toMatchObject({ isGone: true, issue: { title: 'last' } });
  });

  test('are forgotten after as long as an older response may be served', async () => {
    const clock = createFakeClock();
    const events = createRecentEvents(clock, HOUR);
    events.take(eventOf(1));
    await clock.advance(HOUR - 1);
    expect(events.of(1)).toBeDefined();
    await clock.advance(2);
    expect(events.of(1)).toBeUndefined();
  });

  test('every one that counts gives another version, what is ignored does not', () => {
    const events = createRecentEvents(createFakeClock(), HOUR);
    events.take({ kind: 'ignored' });
    expect(events.version).toBe(0);
    expect(events.take({ kind: 'everything' })).toBe('everything');
    events.take(eventOf(1));
    expect(events.version).toBe(2);
  });
});
