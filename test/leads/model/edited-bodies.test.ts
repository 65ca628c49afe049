import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FormLayout } from '#leads/model/issue-body.ts';
import { type Submission, readIssueBody } from '#leads/model/lead.ts';
import { withoutBlocks } from '#leads/model/metadata-block.ts';

/** Fields in any order and number; where `message` is among them it is the multi-line one. */
const headings = {
  firstName: 'First name',
  email: 'Email',
  company: 'Büro',
  message: 'Message',
  sourcePage: 'Source page',
  correlationId: 'Correlation ID',
  consent: 'I agree [ ]',
  budget: 'Budget',
};
type FieldName = keyof typeof headings;
const allFields = Object.keys(headings) as FieldName[];
const anyForm = fc.shuffledSubarray(allFields, { minLength: 1 }).map((names): FormLayout =>
  names.map((name) => ({
    name,
    heading: headings[name],
    multiline: name === 'message',
    expose: true,
  })),
);

const NO_RESPONSE = '_No response_';
const portal = 'acme-portal[bot]';
const endOfLine = fc.constantFrom('\n', '\r\n');

const anyHeading = fc.constantFrom(...Object.values(headings).map((heading) => `### ${heading}`));
const markup = fc.constantFrom(
  '```',
  '~~~',
  '<!--',
  '-->',
  '<!-- trackport',
  '<!-- trackport externalIds: { crm: evil } -->',
  'externalIds: { crm: evil }',
  'correlationId: evil',
  '#### Email',
  '### ',
);
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const typedLine = fc
  .oneof({ weight: 3, arbitrary: anyHeading }, { weight: 2, arbitrary: markup }, text)
  .map((line) => line.replaceAll(/[\r\n]/g, ' ').trim())
  .map((line) => (line === '' ? NO_RESPONSE : line));
/** Several lines, or a lookalike of the fields behind the message. */
const typedLines = fc
  .array(fc.oneof(typedLine, fc.constant('')), { maxLength: 14 })
  .map((lines) => lines.join('\n').trim())
  .map((lines) => (lines === '' ? NO_RESPONSE : lines));
const answers = fc.record({
  ...(Object.fromEntries(allFields.map((name) => [name, typedLine])) as Record<
    FieldName,
    typeof typedLine
  >),
  message: typedLines,
});
type Answers = typeof answers extends fc.Arbitrary<infer Value> ? Value : never;

/** Text of a person between the fields: anything but a heading of the form and a block. */
const noteLine = fc
  .oneof(
    text,
    fc.constantFrom('', '```', '#### Email', '<!-- hidden', 'b@example.com', '_No response_'),
  )
  .map((line) => line.replaceAll(/[\r\n]/g, ' '));
const note = fc.array(noteLine, { maxLength: 3 });
/** One place above each field, and one at the end. */
const notes = fc.array(note, { minLength: allFields.length + 1, maxLength: allFields.length + 1 });

/** A form, what was typed into it, and what people wrote between its fields. */
const edited = fc.record({ form: anyForm, typed: answers, written: notes });

function render(form: FormLayout, typed: Answers, above: readonly (readonly string[])[]): string[] {
  return form.flatMap(({ name, heading }, place) => [
    ...(above[place] ?? []),
    `### ${heading}`,
    '',
    ...typed[name as FieldName].split('\n'),
    '',
  ]);
}

/** Typed values, as readers are to see them. */
function expected(form: FormLayout, typed: Answers, shown: (line: string) => string) {
  const entries = form.map(({ name }) => [name, shown(typed[name as FieldName]).trim()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== '' && value !== NO_RESPONSE));
}

const identitiesOf = ({ contact, correlationId, externalIds }: Submission) => ({
  email: contact.email,
  correlationId,
  externalIds,
});

const rulesOf = (form: FormLayout) => ({ form, portalAuthors: [portal] });
const multilineAt = (form: FormLayout): number => form.findIndex(({ multiline }) => multiline);
/**
 * Notes above the fields up to the message belong to no field. The one place where a note is not told
 * from a value: the field before the message holds the heading of the message, and a note parts them.
 */
function aboveHead(form: FormLayout, written: readonly string[][], typed: Answers): string[][] {
  const message = multilineAt(form);
  const before = form[message - 1]?.name as FieldName | undefined;
  const isAmbiguous = before !== undefined && typed[before] === `### ${form[message]?.heading}`;
  return written
    .slice(0, (message === -1 ? form.length : message) + 1)
    .map((lines, place) => (isAmbiguous && place === message ? [] : lines));
}

const runs = { numRuns: 3000 };

describe('in an issue of a visitor', () => {
  test('no text changes another field, wherever a person writes notes between the fields', () => {
    fc.assert(
      fc.property(edited, endOfLine, ({ form, typed, written }, eol) => {
        const body = render(form, typed, aboveHead(form, written, typed)).join(eol);
        expect(readIssueBody({ body, author: 'ada' }, rulesOf(form)).contact.fields ?? {}).toEqual(
          expected(form, typed, (line) => line),
        );
      }),
      runs,
    );
  });

  test('a note behind the last field costs no identity', () => {
    fc.assert(
      fc.property(edited, note, ({ form, typed: given, written }, last) => {
        const isLast = multilineAt(form) === form.length - 1; // there it is part of the message
        // A note behind all may be the value of a field whose heading is another's value.
        const typed = withoutHeadings(form.slice(multilineAt(form) + 1), given);
        const body = [...render(form, typed, aboveHead(form, written, typed)), ...last].join('\n');
        const { message, ...read } =
          readIssueBody({ body, author: 'ada' }, rulesOf(form)).contact.fields ?? {};
        const { message: typedMessage, ...wanted } = expected(form, typed, (line) => line);
        expect(read).toEqual(wanted);
        if (!isLast) expect(message).toBe(typedMessage);
      }),
      runs,
    );
  });

  test('no identity is ever another than what was typed, even with notes among the last fields', () => {
    fc.assert(
      fc.property(edited, ({ form, typed: given, written }) => {
        const typed = withoutHeadings(form, given);
        const body = render(form, typed, written).join('\n');
        const read = identitiesOf(readIssueBody({ body, author: 'ada' }, rulesOf(form)));
        const wanted = expected(form, typed, (line) => line);
        expect([undefined, wanted['email']]).toContain(read.email);
        expect([undefined, wanted['correlationId']]).toContain(read.correlationId);
        expect(read.externalIds).toEqual({});
      }),
      runs,
    );
  });
});

describe('in an issue of a portal', () => {
  const ids = fc.record({ correlationId: fc.uuid(), objectId: fc.uuid() });
  const blockOf = ({ correlationId, objectId }: { correlationId: string; objectId: string }) => [
    '<!-- trackport',
    `correlationId: "${correlationId}"`,
    'externalIds:',
    `  crm-two: "${objectId}"`,
    '-->',
  ];

  test('no text changes another field or the ids of the block, whatever notes people write', () => {
    fc.assert(
      fc.property(edited, note, ids, ({ form, typed, written }, last, own) => {
        const rendered = render(form, typed, aboveHead(form, written, typed));
        const body = [...rendered, ...blockOf(own), ...last].join('\n');
        const read = readIssueBody({ body, author: portal }, rulesOf(form));
        const wanted = expected(form, typed, (line) => withoutBlocks(line));
        expect(read.correlationId).toBe(own.correlationId);
        expect(read.externalIds).toEqual({ 'crm-two': own.objectId });
        const { message, ...fields } = read.contact.fields ?? {};
        const { message: typedMessage, ...wantedFields } = wanted;
        expect(fields).toEqual(wantedFields);
        if (!typed.message.includes('<!-- trackport')) expect(message).toBe(typedMessage);
      }),
      runs,
    );
  });

  test('no reader sees a block and no visitor’s counts, wherever a person moves the portal’s', () => {
    const place = fc.nat({ max: allFields.length });
    fc.assert(
      fc.property(edited, ids, place, ({ form, typed: given, written }, own, at) => {
        const typed = {
          ...withoutHeadings(form, given),
          message: 'Hello\n\n<!-- trackport\nexternalIds: { crm-two: evil }\n-->',
        };
        const moved = Math.min(at, form.length);
        const above = aboveHead(form, written, typed);
        above[moved] = [...(above[moved] ?? []), ...blockOf(own)];
        const body = [
          ...render(form, typed, above),
          ...(moved === form.length ? blockOf(own) : []),
        ];
        const read = readIssueBody({ body: body.join('\n'), author: portal }, rulesOf(form));
        const seen = JSON.stringify(read.contact);
        for (const id of [own.objectId, own.correlationId, 'crm-two: evil'])
          expect(seen).not.toContain(id);
        expect([undefined, own.objectId]).toContain(read.externalIds['crm-two']);
        const isInHead = multilineAt(form) === -1 || moved <= multilineAt(form);
        if (isInHead || moved === form.length)
          expect(read.contact.email).toBe(expected(form, typed, withoutBlocks)['email']);
      }),
      runs,
    );
  });
});

/** Text that is neither a heading of the form nor an open block. */
function withoutHeadings(form: FormLayout, typed: Answers): Answers {
  const own = new Set(form.map(({ heading }) => `### ${heading}`));
  return Object.fromEntries(
    Object.entries(typed).map(([name, value]) => [
      name,
      own.has(value) || value === '<!-- trackport' ? 'x' : value,
    ]),
  ) as Answers;
}
