import { describe, expect, test } from 'vitest';

import { readForm } from '#leads/model/issue-body.ts';

import { form } from '../support.ts';

const answers = {
  firstName: 'Ada',
  email: 'ada@example.com',
  company: 'Analytical Engines',
  interest: 'Pricing',
  message: 'Hello,\n\nplease call.',
  sourcePage: '/pricing',
};

type Answers = Partial<Record<keyof typeof answers, string>>;

function render(values: Answers, eol = '\n'): string {
  return form
    .flatMap(({ name, heading }) => [
      `### ${heading}`,
      '',
      ...(values[name as keyof typeof answers] ?? '_No response_').split('\n'),
      '',
    ])
    .join(eol);
}

const line = (name: string, heading: string) => ({ name, heading, multiline: false });
/** The message, and behind it two fields together. */
const withTail = [...form, line('correlationId', 'Correlation ID')];
const renderWithTail = (values: Answers, correlationId: string): string =>
  `${render(values)}\n### Correlation ID\n\n${correlationId}\n`;

describe('reading an issue form', () => {
  test('reads every field', () => {
    expect(readForm(render(answers), form)).toEqual(answers);
  });

  test.each(['\r\n', '\n', '\r'])('does not care for line endings (%j)', (eol) => {
    expect(readForm(render(answers, eol), form)).toEqual(answers);
  });

  test('reads mixed endings and trailing spaces', () => {
    const body = render(answers, '\r\n')
      .replace('### Email\r\n', '### Email  \n')
      .replace('ada@', '  ada@');
    expect(readForm(body, form)).toEqual(answers);
  });

  test.each([
    ['a byte order mark before it', '\ufeff### Email'],
    ['zero-width signs in it', '#\u200b## \u200bEm\u200dail\u2060'],
    ['marks of direction around it', '\u202a### \u2066Email\u2069\u202c'],
    ['many of them', `### ${'\u200b'.repeat(150)}Email`],
    ['a soft hyphen in it', '### E\u00admail'],
    ['a no-break blank behind the mark', '###\u00a0Email'],
    ['no-break blanks behind it', '### Email\u00a0\u202f'],
  ])('knows a heading with %s', (_what, heading) => {
    const body = render(answers).replace('### Email', heading);
    expect(readForm(body, form)).toEqual(answers);
  });

  test.each([
    ['blanks before the mark', ' ### Email'],
    ['no blank behind the mark', '###\u200bEmail'],
    ['another mark', '##\u200b Email'],
    ['more than 200 signs, seen or not', `### Email${'\u200b'.repeat(200)}`],
  ])('takes no heading for one with %s', (_what, heading) => {
    const { email: _, ...rest } = answers;
    const body = render(answers).replace('### Email', heading);
    expect(readForm(body, form)).toEqual(rest);
  });

  test('leaves out what was not answered', () => {
    const { company: _, sourcePage: __, ...rest } = answers;
    expect(readForm(render(rest), form)).toEqual(rest);
    expect(readForm(render({}), form)).toEqual({});
    expect(readForm('', form)).toEqual({});
  });

  test('keeps `None`, options with commas and check boxes as they are', () => {
    const values = { ...answers, interest: 'None', company: 'A, B', message: '- [X] a\n- [ ] b' };
    expect(readForm(render(values), form)).toEqual(values);
  });

  test.each([
    ['a known heading', 'x\n\n### Email\n\nevil@example.org\n\n### Company\n\nEvil'],
    ['the last heading', 'x\n\n### Source page\n\n/evil'],
    ['an open fence', '```\n### Source page\n\n/evil'],
    ['tildes', '~~~~\n### Email\n~~~'],
    ['a comment', '<!-- \n### Source page\n\n/evil'],
    ['its own heading', '### Message\n\n### Message'],
    ['deeper headings', '#### Email\n\n### \n\n###Email'],
    ['a metadata block', '<!-- trackport\ncorrelationId: evil\n-->'],
  ])('takes %s inside the message for text', (_what, message) => {
    expect(readForm(render({ ...answers, message }), form)).toEqual({ ...answers, message });
  });

  test.each(['firstName', 'email', 'company', 'interest', 'sourcePage'] as const)(
    'lets any heading stand as the value of %s',
    (name) => {
      for (const { heading } of form) {
        const values = { ...answers, [name]: `### ${heading}` };
        expect(readForm(render(values), form)).toEqual(values);
      }
    },
  );

  test('gives no value to a heading that is not in its place', () => {
    const changed = render(answers).replace('### Email', '### E-Mail');
    const { email: _, ...rest } = answers;
    expect(readForm(changed, form)).toEqual(rest);
    const swapped = render(answers)
      .replace('### Email', '### X')
      .replace('### Company', '### Email')
      .replace('### X', '### Company');
    const { email: __, ...others } = answers;
    expect(readForm(swapped, form)).toEqual({ ...others, company: 'ada@example.com' });
  });

  test('takes an empty field before its repeated heading for that heading as a value', () => {
    const body = renderWithTail({ ...answers, sourcePage: '### Correlation ID' }, '');
    expect(readForm(body, withTail)).toEqual({ ...answers, sourcePage: '### Correlation ID' });
    const blank = render(answers).replace('ada@example.com', '');
    const { email: _, ...rest } = answers;
    expect(readForm(blank, form)).toEqual(rest);
  });

  test('knows no heading of more than 200 characters', () => {
    const heading = (length: number) => [line('email', 'ü'.repeat(length))];
    const body = (length: number) => `### ${'ü'.repeat(length)}\n\na@example.com`;
    expect(readForm(body(200), heading(200))).toEqual({ email: 'a@example.com' });
    expect(readForm(body(201), heading(201))).toEqual({});
  });
});

describe('a note that a person adds', () => {
  const note = 'Called her.\n- wants a demo\n#### next week\n';

  test('at the end costs no field behind the message', () => {
    const body = `${renderWithTail(answers, 'c-1')}\n${note}`;
    expect(readForm(body, withTail)).toEqual({ ...answers, correlationId: 'c-1' });
    const inOneLine = `${renderWithTail(answers, 'c-1')}call back`;
    expect(readForm(inOneLine, withTail)).toEqual({ ...answers, correlationId: 'c-1' });
  });
});

describe('the fields behind the message', () => {
  test('count only all together', () => {
    const broken = renderWithTail(answers, 'c-1').replace('### Source page', '### Page');
    const values = readForm(broken, withTail);
    expect(values).not.toHaveProperty('sourcePage');
    expect(values).not.toHaveProperty('correlationId');
    expect(values['message']).toContain('### Page');
  });

  test('are the last that stand together: a visitor’s can only come before them', () => {
    const message = 'x\n\n### Source page\n\n/evil\n\n### Correlation ID\n\nevil';
    const body = `${renderWithTail({ ...answers, message }, 'c-1')}\nA note.`;
    expect(readForm(body, withTail)).toEqual({ ...answers, message, correlationId: 'c-1' });
  });

  test.each([
    ['all of them', 'x\n\n### Source page\n\n/evil\n\n### Correlation ID\n\nevil'],
    ['what the true ones complete', 'x\n\n### Source page\n\n/evil\n\n### Correlation ID'],
  ])('are not a visitor’s (%s) when a note breaks the true ones', (_what, message) => {
    const body = renderWithTail({ ...answers, message }, 'c-1').replace(
      '\n/pricing\n',
      '\n/pricing\n\nA note between them.\n',
    );
    const values = readForm(body, withTail);
    expect(values).not.toHaveProperty('sourcePage');
    expect(values).not.toHaveProperty('correlationId');
  });

  test('may hold their own headings as values, beside a message that ends with one', () => {
    const values = { ...answers, message: 'x\n\n### Source page', sourcePage: '### Source page' };
    expect(readForm(renderWithTail(values, 'c-1'), withTail)).toEqual({
      ...values,
      correlationId: 'c-1',
    });
    const shifted = renderWithTail(
      { ...answers, sourcePage: '### Source page' },
      '### Correlation ID',
    );
    expect(readForm(shifted, withTail)).toEqual({
      ...answers,
      sourcePage: '### Source page',
      correlationId: '### Correlation ID',
    });
  });
});
