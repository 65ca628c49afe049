import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Issue } from '#leads/lead-tracker.ts';
import { carriesAll } from '#shared/text/labels.ts';
import { isApproved, type LeadRules, mapIssues, toLead } from '#leads/model/lead.ts';
import { rules } from '../support.ts';
import { plainIssue } from '../../support/directory.ts';

const body = '### First name\n\nAda\n\n### Email\n\nada@example.com\n';

const issue: Issue = {
  number: 7,
  title: 'Ada wants a demo',
  body,
  state: 'open',
  labels: ['Approved', 'Priority:High', 'priority:low'],
  assignees: ['grace', 'alan'],
  author: 'ada',
  createdAt: Date.parse('2026-03-01T10:00:00Z'),
  updatedAt: Date.parse('2026-03-02T10:00:00Z'),
  isPullRequest: false,
};

describe('a lead', () => {
  test('is mapped field by field', () => {
    expect(toLead(issue, rules)).toEqual({
      id: '7',
      title: 'Ada wants a demo',
      state: 'open',
      priority: 'high',
      assignee: 'grace',
      labels: ['Approved', 'Priority:High', 'priority:low'],
      createdAt: '2026-03-01T10:00:00Z',
      updatedAt: '2026-03-02T10:00:00Z',
      contact: { firstName: 'Ada', email: 'ada@example.com' },
      connect: {},
    });
  });

  test('leaves out what nothing is known of, but for contact and connect', () => {
    const lead = toLead({ ...issue, body: '', labels: ['approved'], assignees: [] }, rules);
    expect(lead.priority).toBeUndefined();
    expect(lead.assignee).toBeUndefined();
    expect(lead).toMatchObject({ contact: {}, connect: {} });
  });

  test('is an approved issue in any case of the label, never a pull request', () => {
    expect(isApproved(issue, rules)).toBe(true);
    expect(isApproved({ ...issue, labels: ['approved-not'] }, rules)).toBe(false);
    expect(isApproved({ ...issue, isPullRequest: true }, rules)).toBe(false);
    expect(carriesAll(issue, ['approved', 'priority:low'])).toBe(true);
    expect(carriesAll(issue, ['approved', 'other'])).toBe(false);
  });
});

describe('type and fields of a lead', () => {
  const fielded: LeadRules = {
    ...rules,
    issueFields: { region: 'Region', size: 'Size', tags: 'Tags' },
  };
  const value = (name: string, given: string | number | string[]) => {
    return { id: 1, name, kind: 'text', value: given };
  };

  test('are those that the configuration names, in its order, by any case of the name', () => {
    const fieldValues = [value('Tags', ['a', 'b']), value('REGION', 'EMEA'), value('Secret', 'x')];
    const lead = toLead({ ...issue, type: 'Feature', fieldValues }, fielded);
    expect(lead.type).toBe('Feature');
    expect(JSON.stringify(lead.fields)).toBe('{"region":"EMEA","tags":["a","b"]}');
  });

  test('have numbers, 0 among them, and nothing that is empty', () => {
    const fieldValues = [value('Size', 0), value('Region', ''), value('Tags', [])];
    expect(toLead({ ...issue, fieldValues }, fielded).fields).toEqual({ size: 0 });
  });

  test.each([[undefined], [[]], [[value('Other', 'x')]]])(
    'are absent where none has a value: %j',
    (fieldValues) => {
      expect(toLead({ ...issue, ...(fieldValues && { fieldValues }) }, fielded).fields).toBe(
        undefined,
      );
      expect(toLead({ ...issue, ...(fieldValues && { fieldValues }) }, rules).fields).toBe(
        undefined,
      );
    },
  );
});

describe('what the configuration adds to a lead', () => {
  const exposing: LeadRules = {
    ...rules,
    form: [
      ...rules.form.map((field) => ({ ...field, expose: field.name === 'company' })),
      { name: 'constructor', heading: 'Budget', multiline: false, expose: true },
      { name: 'consent', heading: 'Consent', multiline: false },
    ],
  };
  const tail = '\n### Source page\n\n/\n\n### Budget\n\n5,000\n\n### Consent\n\n- [X] yes\n';
  const full = `${body}\n### Company\n\nAcme\n\n### Message\n\nHello\n${tail}`;

  test('is, with `expose`, fields of the form under their names', () => {
    const { contact } = toLead({ ...issue, body: full }, exposing);
    expect(contact).toMatchObject({ company: 'Acme', sourcePage: '/' });
    expect(contact.fields).toEqual({ company: 'Acme', constructor: '5,000' });
    const blank = full.replace('5,000', '_No response_').replace('Acme', '_No response_');
    expect(toLead({ ...issue, body: blank }, exposing).contact.fields).toBeUndefined();
  });

  test('is, with `url`, the address of the issue', () => {
    const url = 'https://github.com/acme/leads/issues/7';
    expect(toLead({ ...issue, url }, { ...rules, url: true }).url).toBe(url);
    expect(toLead({ ...issue, url }, rules).url).toBeUndefined();
    expect(toLead(issue, { ...rules, url: true }).url).toBeUndefined();
    const script = { ...issue, url: 'javascript:alert(1)' };
    expect(toLead(script, { ...rules, url: true }).url).toBeUndefined();
  });
});

const issues = (count: number): Issue[] =>
  Array.from({ length: count }, (_, index) => plainIssue({ number: index + 1 }));

/** Holds the event loop as a hostile body does. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('others get their turn while a page of slow bodies is read', async () => {
  let turns = 0;
  const watching = new AbortController();
  const watched = countTurns(watching.signal, () => {
    turns += 1;
  });
  const mapped = await mapIssues(issues(5), ({ number }) => {
    hold(15);
    return number;
  });
  watching.abort();
  await watched;
  expect(mapped).toEqual([1, 2, 3, 4, 5]);
  expect(turns).toBeGreaterThanOrEqual(4);
});

async function countTurns(signal: AbortSignal, count: () => void): Promise<void> {
  while (!signal.aborted) {
    await setImmediate();
    count();
  }
}
