import { describe, expect, test } from 'vitest';
import { readIssueBody } from '#leads/model/lead.ts';
import { form, rules } from '../support.ts';

const block = [
  '<!-- trackport',
  'correlationId: 0b9f',
  'portalRunUrl: https://portal.example.com/runs/81',
  'externalIds: { crm-two: "4711", crm-one: 0042 }',
  '-->',
].join('\n');
const facts = {
  correlationId: '0b9f',
  portalRunUrl: 'https://portal.example.com/runs/81',
  externalIds: { 'crm-two': '4711', 'crm-one': '0042' },
};
const evil = block.replace('0b9f', 'evil').replace('4711', '666');

/** A block that says more than it is asked. */
const withOther = (yaml: string): string =>
  `<!-- trackport\ncorrelationId: c-1\nother: ${yaml}\n-->`;

const contact = { firstName: 'Ada', email: 'ada@example.com' };
const head = '### First name\n\nAda\n\n### Email\n\nada@example.com\n';
const message = (text: string) => `${head}\n### Message\n\n${text}\n`;
const tail = '\n### Source page\n\n/pricing\n';

const read = (body: string, author = 'ACME-portal[bot]') => readIssueBody({ body, author }, rules);
const isBelieved = (body: string): boolean => {
  const { correlationId, externalIds } = read(body);
  return correlationId !== undefined || Object.keys(externalIds).length > 0;
};

describe('the metadata block', () => {
  test('counts at the end of what a portal wrote', () => {
    expect(read(`${head}\n${block}\n\n`)).toEqual({ contact, ...facts });
  });

  test.each(['\r\n', '\r'])('counts whatever the line endings are (%j)', (eol) => {
    expect(read(`${head}\n${block}\n`.replaceAll('\n', eol))).toEqual({ contact, ...facts });
  });

  test('counts for nobody else, and is text there', () => {
    const { contact, correlationId, externalIds } = read(message(block), 'ada');
    expect(correlationId).toBeUndefined();
    expect(externalIds).toEqual({});
    expect(contact.message).toBe(block);
    const withoutAuthor = readIssueBody({ body: message(block) }, rules);
    expect(withoutAuthor.externalIds).toEqual({});
  });

  test('wins over headings', () => {
    const own = [
      ...form.slice(0, 2),
      { name: 'correlationId', heading: 'Correlation ID', multiline: false },
    ];
    const body = `${head}\n### Correlation ID\n\nc-1\n`;
    const correlationIdOf = (text: string) =>
      readIssueBody({ body: text, author: 'acme-portal[bot]' }, { ...rules, form: own })
        .correlationId;
    expect(correlationIdOf(body)).toBe('c-1');
    expect(correlationIdOf(`${body}\n${block}`)).toBe('0b9f');
  });

  test('shows only an http or https address of at most 2,048 characters as portalRunUrl', () => {
    const script = block.replace('https://portal.example.com/runs/81', 'javascript:alert(1)');
    expect(read(`${head}\n${script}`).portalRunUrl).toBeUndefined();
    const url = (length: number) => 'https://portal.example.com/'.padEnd(length, 'a');
    const blockWith = (length: number) => block.replace(/https:.*/, url(length));
    expect(read(`${head}\n${blockWith(2048)}`).portalRunUrl).toBe(url(2048));
    expect(read(`${head}\n${blockWith(2049)}`).portalRunUrl).toBeUndefined();
  });

  test.each([
    ['block style', 'correlationId: 0b9f\nexternalIds:\n  crm-two: "4711"'],
    ['folded text', 'correlationId: >-\n  0b9f\nexternalIds: {crm-two: "4711"}'],
    ['JSON', '{ "correlationId": "0b9f",\n  "externalIds": { "crm-two": "4711" } }'],
    [
      'comments and unknown keys',
      '# by us\ncorrelationId: 0b9f\ntags: [a, b]\nexternalIds: { crm-two: 4711 }',
    ],
    [
      'a hundred partners',
      `correlationId: 0b9f\nexternalIds:\n  crm-two: "4711"\n${Array.from({ length: 90 }, (_, index) => `  p-${index}: "x"`).join('\n')}`,
    ],
  ])('may be written in %s', (_what, yaml) => {
    const { correlationId, externalIds } = read(`${head}\n<!-- trackport\n${yaml}\n-->`);
    expect(correlationId).toBe('0b9f');
    expect(externalIds['crm-two']).toBe('4711');
  });
});

test.each(['null', 'Null', '~', '""'])('an id that a portal writes as %s is none', (none) => {
  const yaml = `correlationId: ${none}\nexternalIds: { crm-one: ${none}, crm-two: nullable }`;
  const facts = read(`${head}\n<!-- trackport\n${yaml}\n-->`);
  expect(facts).toEqual({ contact, externalIds: { 'crm-two': 'nullable' } });
});

describe('a note beside the block', () => {
  test.each([
    ['below it', `${block}\nCalled her.`],
    ['behind it, on its last line', `${block} called her`],
    ['below it, after an end without a start', `${block}\n-->\nmore`],
    ['above it', `Called her.\n${block}`],
  ])('%s costs no id and is no part of a field', (_what, end) => {
    const read = readIssueBody(
      { body: `${message('Hi')}${tail}\n${end}`, author: 'acme-portal[bot]' },
      rules,
    );
    expect(read).toEqual({
      contact: { ...contact, message: 'Hi', sourcePage: '/pricing' },
      ...facts,
    });
  });

  test('is no part of the message when the message is the last field', () => {
    expect(read(`${message('Hi')}\n${block}\nCalled her.`).contact.message).toBe('Hi');
  });
});

describe('the last block', () => {
  test('is the one that counts when a visitor typed one before it', () => {
    expect(read(`${message(evil)}\n${block}`)).toMatchObject(facts);
    expect(read(`${message(evil)}${tail}\n${block}\nA note.`)).toMatchObject(facts);
  });

  test.each([
    ['broken YAML', '<!-- trackport\n: : {\n-->'],
    ['a list', '<!-- trackport\n- a\n-->'],
    ['an alias', '<!-- trackport\na: &x 1\nb: *x\n-->'],
    ['a key that stands twice', '<!-- trackport\ncorrelationId: a\ncorrelationId: b\n-->'],
    ['no end', '<!-- trackport\ncorrelationId: c-1\n'],
    ['one line', '<!-- trackport correlationId: c-1 -->'],
    ['text before it on its line', `x ${block}`],
    ['a heading of the form in it', '<!-- trackport\ncorrelationId: c-1\n### Company\n-->'],
    ['more than 8,192 characters', block.replace('0b9f', 'c'.repeat(8200))],
    ['lists a hundred deep', withOther(`${'['.repeat(100)}${']'.repeat(100)}`)],
    ['maps a hundred deep', withOther(`${'{a: '.repeat(100)}${'}'.repeat(100)}`)],
    ['lists on one line', withOther('\n- - - a')],
    ['a key of several lines', withOther('x\n? more\n: x')],
    [
      'more keys than a hundred partners need',
      withOther(Array.from({ length: 200 }, (_, key) => `\n  k${key}: v`).join('')),
    ],
    ['a start in it', block.replace('0b9f', 'a <!-- trackport b')],
  ])('counts as none with %s, and no earlier one takes its place', (_what, last) => {
    expect(isBelieved(`${message('Hi')}\n${last}`)).toBe(false);
    expect(isBelieved(`${message(evil)}\n${last}`)).toBe(false);
  });

  test('counts as none when a heading of the form stands behind it', () => {
    expect(isBelieved(`${message(block)}${tail}`)).toBe(false);
    expect(isBelieved(`${block}\n${message('Hi')}`)).toBe(false);
    expect(isBelieved(`${block}\n${message('Hi')}\n\nA note.\n#### Email`)).toBe(false);
  });

  test('is not a visitor’s when a person moved the portal’s to the front', () => {
    expect(isBelieved(`${block}\n${message(evil)}`)).toBe(false);
    expect(isBelieved(`${head}\n${block}\n### Message\n\n${evil}`)).toBe(false);
    expect(
      isBelieved(
        `${block}\n${message('Hi')}${tail.replace('/pricing', evil.replaceAll('\n', ' '))}`,
      ),
    ).toBe(false);
  });

  test('starts with its word alone', () => {
    expect(isBelieved(`${message('Hi')}\n${block.replace('trackport', 'trackporter')}`)).toBe(
      false,
    );
    expect(isBelieved(`${message('Hi')}\n${block}\n<!-- trackporter\n-->`)).toBe(true);
  });
});

describe('no reader sees a block of a portal', () => {
  const hidden = [
    ['that counts', (body: string) => `${body}\n${block}`],
    ['above the fields', (body: string) => `${block}\n${body}`],
    ['between two fields', (body: string) => body.replace('### Email', `${block}\n\n### Email`)],
    [
      'between a heading and its value',
      (body: string) => body.replace('\nada@', `\n${block}\n\nada@`),
    ],
    ['in the message', (body: string) => body.replace('Hi\n', `Hi\n${block}\n`)],
    ['that cannot be read', (body: string) => `${body}\n${block.replace('correlationId:', ': :')}`],
    ['whose end was lost', (body: string) => `${body}\n${block.replace('-->', '')}`],
    ['behind a note on its line', (body: string) => `${body}\nnote ${block}`],
    ['of one line', (body: string) => `${body}\n${block.replaceAll('\n', ' ')}`],
    ['twice', (body: string) => `${body}\n${block}\n\n${block}`],
  ] as const;

  test.each(hidden)('%s', (_what, edit) => {
    for (const body of [message('Hi'), `${message('Hi')}${tail}`]) {
      const { contact: seen } = read(edit(body));
      expect(JSON.stringify(seen)).not.toMatch(/4711|0b9f/);
      expect(seen).toMatchObject({ ...contact, message: expect.stringMatching(/^Hi/) });
      expect('sourcePage' in seen).toBe(body.includes('/pricing'));
    }
  });

  test('also where it is a visitor’s, whose other text stays', () => {
    expect(read(`${message(`a\n${evil}\nb`)}\n${block}`).contact.message).toBe('a\n\nb');
    const inline = evil.replaceAll('\n', ' ');
    expect(read(`${message(`a ${inline} b\n${inline}\nc`)}\n${block}`).contact.message).toBe(
      'a  b\nc',
    );
    const asName = `${head.replace('Ada', inline)}\n${block}`;
    expect(read(asName).contact).toEqual({ email: 'ada@example.com' });
  });

  test('but what is only begun like one is text', () => {
    const text = '<!-- trackport\n<!-- trackporter -->\n```\n<!-- -->';
    expect(
      read(`${message(text.replace('\n<!-- trackporter -->', ''))}${tail}\n${block}`).contact,
    ).toMatchObject({ sourcePage: '/pricing' });
    expect(read(`${message('<!-- trackporter a -->')}\n${block}`).contact.message).toBe(
      '<!-- trackporter a -->',
    );
    expect(read(`${message('x <!-- trackport')}${tail}\n${block}`).contact.message).toBe(
      'x <!-- trackport',
    );
  });
});
