import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  commentText,
  effectOf,
  type IssueContent,
  leastErasure,
  planEdit,
  planEffect,
  REDACTED_BODY,
  REDACTED_TITLE,
} from '#partners/worker/act/issue-edit.ts';
import { decide, readEvent, ruleFor } from '#partners/event.ts';
import { type Action, createPartner, type EventRule } from '#partners/partner.ts';
import type { Effect } from '#partners/receipts/event-progress.ts';
import { secretsOf } from '../../../support/partners.ts';

const labels = { approved: 'approved', deleted: 'deleted-by-partner' };
describe('the plan', () => {
  const issue: IssueContent = {
    title: 'Ada',
    body: 'secret',
    state: 'open',
    labels: ['Approved', 'eu'],
    assignees: [],
  };

  test('is one write for relabel, close and redact', () => {
    expect(planEdit(issue, ['relabel', 'close', 'redact'], labels)).toEqual({
      labels: ['eu', 'deleted-by-partner'],
      close: 'not_planned',
      title: REDACTED_TITLE,
      body: REDACTED_BODY,
    });
  });

  test('holds nothing that nobody asked for', () => {
    expect(planEdit(issue, ['comment', 'delete'], labels)).toBeUndefined();
    expect(planEdit(issue, ['close'], labels)).toEqual({ close: 'not_planned' });
  });

  test('compares labels without regard to case', () => {
    const done = { ...issue, labels: ['DELETED-by-partner', 'eu'] };
    expect(planEdit(done, ['relabel'], labels)).toBeUndefined();
    const both = { ...issue, labels: ['deleted-BY-partner', 'APPROVED'] };
    expect(planEdit(both, ['relabel'], labels)).toEqual({ labels: ['deleted-by-partner'] });
  });

  test('when carried out leaves nothing to do, for any issue and actions', () => {
    const anyIssue = fc.record({
      title: fc.string(),
      body: fc.string(),
      state: fc.constantFrom('open' as const, 'closed' as const),
      labels: fc.array(fc.constantFrom('approved', 'APPROVED', 'eu', 'Deleted-By-Partner')),
      assignees: fc.constant([]),
    });
    const anyActions = fc.subarray<Action>(['relabel', 'close', 'comment', 'redact', 'delete']);
    fc.assert(
      fc.property(anyIssue, anyActions, (before, actions) => {
        const { close, ...fields } = planEdit(before, actions, labels) ?? {};
        const after = { ...before, ...fields, ...(close && { state: 'closed' as const }) };
        expect(planEdit(after, actions, labels)).toBeUndefined();
        expect(after.labels).toEqual(
          actions.includes('relabel') ? expect.not.arrayContaining(['approved']) : before.labels,
        );
      }),
    );
  });
});

test('the erasure of several leads is that of the least erased', () => {
  expect(leastErasure(['complete', 'incomplete-history'])).toBe('incomplete-history');
  expect(leastErasure(['complete', 'impossible', 'incomplete-history'])).toBe('impossible');
  expect(leastErasure([undefined, 'complete'])).toBe('complete');
  expect(leastErasure([undefined])).toBeUndefined();
});

test('a comment holds the receipt id and nothing of the person', () => {
  expect(commentText('r-1').replaceAll('r-1', '')).toBe(commentText(''));
});

const partnerWith = (events: readonly EventRule[]) =>
  createPartner('crm-one', { scheme: 'hmac-sha256', secrets: secretsOf('s'), events });

const readAs = (partner: ReturnType<typeof createPartner>, element: object) => {
  const event = readEvent(partner.fields, element);
  if (!event) throw new Error('no event');
  return event;
};

const nothing: Effect = { addLabels: [], removeLabels: [], assign: [] };

describe('the rule of an event', () => {
  const partner = partnerWith([
    { type: 'lead.qualified', addLabels: ['first'] },
    { type: 'contact.deletion', addLabels: ['gone'] },
    { type: '*', addLabels: ['any'] },
    { type: 'lead.lost', addLabels: ['never'] },
  ]);

  test.each([
    [{ eventType: 'lead.qualified' }, 'first'],
    [{ eventType: 'lead.lost' }, 'any'],
    [{ eventType: 'object.deletion', objectTypeId: '0-1' }, 'gone'],
    [{ eventType: ['odd'] }, 'any'],
    [{}, 'any'],
  ])('is the first that fits: %j', (element, label) => {
    expect(ruleFor(partner, readAs(partner, element))?.addLabels).toEqual([label]);
  });

  test('is looked for before anybody is, and on the path of events alone', () => {
    const one = partnerWith([{ type: 'lead.qualified', close: true }]);
    const event = (element: object) => readAs(one, element);
    expect(decide(one, 'events', event({ eventType: 'other' }))).toEqual({ outcome: 'IGNORED' });
    expect(decide(one, 'events', event({ eventType: 'lead.qualified' }))).toEqual({
      outcome: 'REJECTED',
      reason: 'names-nobody',
    });
    const named = event({ eventType: 'lead.qualified', leadId: '1' });
    expect(decide(one, 'events', named)).toEqual({ outcome: 'PENDING' });
    expect(decide(partnerWith([]), 'events', named)).toEqual({ outcome: 'IGNORED' });
  });
});

test('a rule that assigns one login need not be a list', () => {
  const event = readAs(partnerWith([]), { leadId: '1' });
  const of = { partnerId: 'crm-one', receiptId: 'r-1', position: 0, receivedAt: 0 };
  expect(effectOf({ type: '*', assign: 'octocat' }, event, of).assign).toEqual(['octocat']);
});

describe('the comment of a rule', () => {
  const of = { partnerId: 'crm-one', receiptId: 'r-1', position: 2, receivedAt: 0 };
  const comment = '{partner} {type} {receiptId} {occurredAt}';
  const textFor = (element: object): string | undefined => {
    const event = readAs(partnerWith([]), { email: 'ada@example.com', ...element });
    return effectOf({ type: '*', comment }, event, of).comment?.text;
  };

  test.each([
    [
      'an instant',
      { eventType: 'lead.won', occurredAt: '2026-01-31T01:00:00+01:00' },
      'lead.won r-1 2026-01-31T00:00:00Z',
    ],
    [
      'seconds',
      { eventType: 'lead.won', occurredAt: 1767225600 },
      'lead.won r-1 2026-01-01T00:00:00Z',
    ],
    [
      'milliseconds',
      { eventType: 'a/b', occurredAt: '1767225600123' },
      'a/b r-1 2026-01-01T00:00:00.123Z',
    ],
    [
      'no instant',
      { eventType: 'lead.won', occurredAt: 'Ada called' },
      'lead.won r-1 1970-01-01T00:00:00Z',
    ],
    ['no type', {}, 'event r-1 1970-01-01T00:00:00Z'],
    ['an address for a type', { eventType: 'ada@example.com' }, 'event r-1 1970-01-01T00:00:00Z'],
    ['a mention for a type', { eventType: '@octocat' }, 'event r-1 1970-01-01T00:00:00Z'],
  ])('says nothing but what may be said: %s', (_name, element, text) => {
    expect(textFor(element)).toBe(`crm-one ${text}\n\n<!-- trackport receipt r-1/2 -->`);
  });
});

describe('the plan of a rule', () => {
  const issue: IssueContent = {
    title: 'Ada',
    body: 'text',
    state: 'open',
    labels: ['Approved', 'new'],
    assignees: ['Mona'],
  };

  test('is one write for labels, assignees and state', () => {
    const effect: Effect = {
      addLabels: ['won', 'APPROVED'],
      removeLabels: ['NEW'],
      assign: ['mona', 'octocat'],
      state: 'closed',
    };
    expect(planEffect(issue, effect)).toEqual({
      labels: ['Approved', 'won'],
      assignees: ['Mona', 'octocat'],
      close: 'completed',
    });
  });

  test('opens again what is closed, and leaves what is so', () => {
    expect(planEffect({ ...issue, state: 'closed' }, { ...nothing, state: 'open' })).toEqual({
      reopen: true,
    });
    expect(planEffect(issue, { ...nothing, state: 'open' })).toBeUndefined();
    expect(planEffect(issue, { ...nothing, addLabels: ['approved'] })).toBeUndefined();
  });

  test('when carried out leaves nothing to do and nobody out, for any issue and rule', () => {
    const names = fc.uniqueArray(fc.constantFrom('approved', 'NEW', 'new', 'won', 'Won', 'eu'), {
      selector: (name) => name.toLowerCase(),
    });
    const logins = fc.uniqueArray(fc.constantFrom('mona', 'octocat', 'Hubot'));
    const anyIssue = fc.record({
      title: fc.string(),
      body: fc.string(),
      state: fc.constantFrom('open' as const, 'closed' as const),
      labels: names,
      assignees: logins,
    });
    const anyEffect = fc
      .record({
        labels: names,
        cut: fc.nat(6),
        assign: logins,
        state: fc.constantFrom('open' as const, 'closed' as const, undefined),
      })
      .map(({ labels, cut, ...rest }) => ({
        ...rest,
        addLabels: labels.slice(0, cut),
        removeLabels: labels.slice(cut),
      }));
    const fold = (list: readonly string[]): string[] => list.map((name) => name.toLowerCase());
    fc.assert(
      fc.property(anyIssue, anyEffect, (before, effect) => {
        const { close, reopen, ...fields } = planEffect(before, effect) ?? {};
        const state = close ? ('closed' as const) : reopen && ('open' as const);
        const after = { ...before, ...fields, ...(state && { state }) };
        expect(planEffect(after, effect)).toBeUndefined();
        expect(fold(after.labels)).toEqual(expect.arrayContaining(fold(effect.addLabels)));
        expect(
          fold(after.labels).filter((name) => fold(effect.removeLabels).includes(name)),
        ).toEqual([]);
        expect(after.assignees).toEqual(
          expect.arrayContaining([...before.assignees, ...effect.assign]),
        );
        const untouched = before.labels.filter(
          (name) => !fold(effect.removeLabels).includes(name.toLowerCase()),
        );
        expect(after.labels).toEqual(expect.arrayContaining(untouched));
        expect(after.state).toBe(effect.state ?? before.state);
      }),
    );
  });
});
