import { describe, expect, test } from 'vitest';
import { correlationIdIn, emailsIn, externalIdIn, parseLeadId } from '#leads/model/identity.ts';
import { type LeadRules, readIssueBody, toLead } from '#leads/model/lead.ts';
import {
  combiningMarks,
  GROWTH_TIMEOUT_MS,
  growthOf,
  LINEAR_GROWTH_MAX,
  repeated,
} from '../../support/work/growth.ts';
import { stepsOf } from '../../support/work/steps.ts';
import { rules } from '../support.ts';
import { plainIssue } from '../../support/directory.ts';

const line = (name: string, heading: string) => ({ name, heading, multiline: false });
const hostileRules: LeadRules = {
  ...rules,
  form: [
    ...rules.form,
    line('correlationId', 'Correlation ID'),
    line('portalRunUrl', 'Portal run'),
    line('other', 'Ü'.repeat(200)),
  ],
};
const read = (body: string) => readIssueBody({ body, author: 'acme-portal[bot]' }, hostileRules);

type Text = (characters: number) => string;
const after =
  (start: string, text: Text, end = ''): Text =>
  (characters) =>
    start + text(characters) + end;
const message = '### Message\n\n';

const bodies: Record<string, Text> = {
  'combining marks': combiningMarks,
  'a heading of combining marks': after('### ', combiningMarks),
  'an e-mail of combining marks': after('### Email\n\n', combiningMarks, '@example.com'),
  'one long line': repeated('a'),
  blanks: repeated(' '),
  'blanks before a block': after('', repeated(' '), '<!-- trackport\na: 1\n-->'),
  both: repeated('\r\n'),
  'invisible characters': repeated('\u200b'),
  'dotted capitals': repeated('İ'),
  'the first heading': repeated('### First name\n'),
  'the last heading': repeated(`### ${'Ü'.repeat(200)}\n`),
  'nearly the last fields': repeated(
    '### Source page\n\nx\n\n### Correlation ID\n\ny\n\n### Portal run\n\nz\n\n',
  ),
  'starts of blocks': repeated('<!-- trackport '),
  'starts of blocks and one end': after(message, repeated('<!-- trackport '), '-->'),
  blocks: repeated('<!-- trackport\na: 1\n-->\n'),
  'blocks around headings': repeated('### Email\n<!-- trackport\n### Email\n-->\n'),
  'ends of blocks': repeated('-->\n'),
  'a block of any length': after('<!-- trackport\na: "', repeated('[ '), '"\n-->'),
};

describe('reading a body is linear in its length', () => {
  test.each(Object.entries(bodies))(
    'for %s',
    (_what, body) => {
      expect(growthOf(body, read)).toBeLessThan(LINEAR_GROWTH_MAX);
    },
    GROWTH_TIMEOUT_MS,
  );

  test('and a body that no tracker takes is not read', () => {
    const body = '### Email\n\na@example.com\n';
    expect(read(body.padEnd(262_144)).contact.email).toBe('a@example.com');
    expect(read(body.padEnd(262_145)).contact).toEqual({});
  });
});

/** Less than 8,192 characters each. Without a bound these take up to half a second, or all of the stack. */
const yaml: Record<string, string> = {
  'open lists': '['.repeat(8000),
  'maps in each other': '{a: '.repeat(2000),
  dashes: '- '.repeat(4000),
  'long keys, each deeper': Array.from({ length: 120 }, (_, depth) => `${' '.repeat(depth)}?`).join(
    '\n',
  ),
  'many keys': Array.from({ length: 1200 }, (_, index) => `a${index}:`).join('\n'),
  'one key again and again': 'a: 1\n'.repeat(1600),
  'a map of many keys': `{${',a'.repeat(4000)}}`,
  anchors: `a: ${'&x '.repeat(2600)}`,
  'a billion laughs': Array.from(
    { length: 9 },
    (_, index) => `a${index}: &a${index} [${`*a${index - 1}, `.repeat(9)}]`,
  ).join('\n'),
  tags: `a: ${'!!x '.repeat(2000)}`,
  'reserved characters': 'a: @\n'.repeat(1600),
};

/** Nine for a character: the text never gets to the YAML parser, or is nothing much for it. */
const YAML_STEPS_MAX = 75_000;

describe('a metadata block', () => {
  test.each(Object.entries(yaml))('of %s is read at once, and counts as none', (_what, text) => {
    const body = `### First name\n\nAda\n\n<!-- trackport\n${text}\n-->`;
    expect(body.length).toBeLessThan(8192);
    expect(read(body)).toEqual({ contact: { firstName: 'Ada' }, externalIds: {} });
    expect(stepsOf(() => void read(body))).toBeLessThan(YAML_STEPS_MAX);
  });
});

describe('other texts that strangers write are taken in linear time', () => {
  const issue = plainIssue();

  test.each([
    ['combining marks', combiningMarks],
    ['dotted capitals', repeated('İ')],
    ['signs', repeated('@<')],
    ['blanks', after('a', repeated(' '), 'a')],
    ['digits', repeated('1')],
  ] as const)(
    '%s',
    (_what, text) => {
      const growth = growthOf(text, (value) => {
        emailsIn(value);
        correlationIdIn(value);
        externalIdIn('crm', value);
        parseLeadId(value);
        toLead({ ...issue, title: value, labels: [`priority:${value}`, value] }, rules);
      });
      expect(growth).toBeLessThan(LINEAR_GROWTH_MAX);
    },
    GROWTH_TIMEOUT_MS,
  );
});
