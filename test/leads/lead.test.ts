import { describe, expect, it } from 'vitest';

import { carriesAll, isApproved, readIssueBody, toLead } from '#leads/lead.ts';
import type { Issue } from '#leads/lead-tracker.ts';
import { splitMetadata } from '#leads/metadata-block.ts';

import { rules } from './support.ts';

const block = [
  '<!-- trackport',
  'correlationId: 0b9f',
  'portalRunUrl: https://portal.example.com/runs/81',
  'externalIds: { crm-two: "4711", crm-one: 0042 }',
  '-->',
].join('\n');
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
  it('is mapped field by field', () => {
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

  it('leaves out what nothing is known of, but for contact and connect', () => {
    const lead = toLead({ ...issue, body: '', labels: ['approved'], assignees: [] }, rules);
    expect(lead).not.toHaveProperty('priority');
    expect(lead).not.toHaveProperty('assignee');
    expect(lead).toMatchObject({ contact: {}, connect: {} });
  });

  it('is an approved issue in any case of the label, never a pull request', () => {
    expect(isApproved(issue, rules)).toBe(true);
    expect(isApproved({ ...issue, labels: ['approved-not'] }, rules)).toBe(false);
    expect(isApproved({ ...issue, isPullRequest: true }, rules)).toBe(false);
    expect(carriesAll(issue, ['approved', 'priority:low'])).toBe(true);
    expect(carriesAll(issue, ['approved', 'other'])).toBe(false);
  });
});

describe('the metadata block', () => {
  const byPortal = { body: `${body}\n${block}\n\n`, author: 'ACME-portal[bot]' };

  it('counts at the end of what a portal wrote', () => {
    expect(readIssueBody(byPortal, rules)).toEqual({
      contact: { firstName: 'Ada', email: 'ada@example.com' },
      correlationId: '0b9f',
      portalRunUrl: 'https://portal.example.com/runs/81',
      externalIds: { 'crm-two': '4711', 'crm-one': '0042' },
    });
  });

  it('counts for nobody else', () => {
    const { correlationId, externalIds } = readIssueBody({ ...byPortal, author: 'ada' }, rules);
    expect(correlationId).toBeUndefined();
    expect(externalIds).toEqual({});
    const { author: _, ...withoutAuthor } = byPortal;
    expect(readIssueBody(withoutAuthor, rules).externalIds).toEqual({});
  });

  it('is the last one when a visitor typed one before it', () => {
    const typed = block.replace('0b9f', 'evil').replace('4711', '666');
    const facts = readIssueBody(
      { ...byPortal, body: `${body}\n### Company\n\n${typed}\n\n${block}` },
      rules,
    );
    expect(facts).toMatchObject({ correlationId: '0b9f', externalIds: { 'crm-two': '4711' } });
  });

  it.each([
    ['text behind it', `${block}\nmore`],
    ['text before it on its line', `x ${block}`],
    ['another word', block.replace('trackport', 'trackporter')],
    ['broken YAML', '<!-- trackport\n: : {\n-->'],
    ['a list', '<!-- trackport\n- a\n-->'],
    ['an alias', '<!-- trackport\na: &x 1\nb: *x\n-->'],
    ['an early end', '<!-- trackport\na: 1\n-->\n-->'],
  ])('does not count with %s', (_what, text) => {
    expect(splitMetadata(`${body}\n${text}`)).toEqual({ text: `${body}\n${text}` });
  });

  it('shows only an http or https address as portalRunUrl', () => {
    const text = byPortal.body.replace('https://portal.example.com/runs/81', 'javascript:alert(1)');
    expect(readIssueBody({ ...byPortal, body: text }, rules)).not.toHaveProperty('portalRunUrl');
  });

  it('wins over headings', () => {
    const form = [
      ...rules.form.slice(0, 2),
      { name: 'correlationId', heading: 'Correlation ID', multiline: false },
    ];
    const own = { body: `${body}\n### Correlation ID\n\nc-1\n`, author: 'ACME-portal[bot]' };
    expect(readIssueBody(own, { ...rules, form }).correlationId).toBe('c-1');
    const both = { ...own, body: `${own.body}\n${block}` };
    expect(readIssueBody(both, { ...rules, form }).correlationId).toBe('0b9f');
  });
});
