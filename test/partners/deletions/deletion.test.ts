import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  actionsFor,
  commentText,
  type IssueContent,
  leastErasure,
  namesOf,
  planEdit,
  REDACTED_BODY,
  REDACTED_TITLE,
} from '#partners/deletions/deletion.ts';
import type { PartnerEvent } from '#partners/event.ts';
import { type Action, createPartner } from '#partners/partner.ts';

const labels = { approved: 'approved', deleted: 'deleted-by-partner' };
const partner = createPartner('crm-two', {
  scheme: 'signature-v3',
  secrets: [],
  deletions: { actions: ['close'], privacy: ['redact'] },
});
const named = (facts: Partial<PartnerEvent>): PartnerEvent => ({
  type: { kind: 'none' },
  ...facts,
});

describe('the names of an event', () => {
  test('stand in the order of matching', () => {
    const event = named({ email: 'e', externalId: 'x', correlationId: 'c', leadId: '12' });
    expect(namesOf('crm-two', event)).toEqual([
      { kind: 'lead-id', number: 12 },
      { kind: 'correlation-id', value: 'c' },
      { kind: 'external-id', partnerId: 'crm-two', value: 'x' },
      { kind: 'email', value: 'e' },
    ]);
  });

  test.each(['0', '-1', '1.5', '1e3', '0x1', 'abc', '12 13', '9'.repeat(16), '१२'])(
    'leave out the lead id %j, which is no issue number',
    (leadId) => expect(namesOf('crm-two', named({ leadId }))).toEqual([]),
  );

  test.each(['#12', ' 12 ', '\u200b#12\n'])('take %j for lead 12', (leadId) => {
    expect(namesOf('crm-two', named({ leadId }))).toEqual([{ kind: 'lead-id', number: 12 }]);
  });
});

test('only a privacy deletion takes the privacy actions', () => {
  expect(actionsFor(partner, named({ canonicalType: 'contact.deletion' }))).toEqual(['close']);
  expect(actionsFor(partner, named({ canonicalType: 'contact.privacyDeletion' }))).toEqual([
    'redact',
  ]);
});

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
