import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readForm } from '#leads/issue-body.ts';

import { form } from './support.ts';

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

describe('reading an issue form', () => {
  it('reads every field', () => {
    expect(readForm(render(answers), form)).toEqual(answers);
  });

  it.each(['\r\n', '\n', '\r'])('does not care for line endings (%j)', (eol) => {
    expect(readForm(render(answers, eol), form)).toEqual(answers);
  });

  it('reads mixed endings and trailing spaces', () => {
    const body = render(answers, '\r\n')
      .replace('### Email\r\n', '### Email  \n')
      .replace('ada@', '  ada@');
    expect(readForm(body, form)).toEqual(answers);
  });

  it('leaves out what was not answered', () => {
    const { company: _, sourcePage: __, ...rest } = answers;
    expect(readForm(render(rest), form)).toEqual(rest);
    expect(readForm(render({}), form)).toEqual({});
    expect(readForm('', form)).toEqual({});
  });

  it('keeps `None`, options with commas and check boxes as they are', () => {
    const values = { ...answers, interest: 'None', company: 'A, B', message: '- [X] a\n- [ ] b' };
    expect(readForm(render(values), form)).toEqual(values);
  });

  it.each([
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

  it.each(['firstName', 'email', 'company', 'interest', 'sourcePage'] as const)(
    'lets any heading stand as the value of %s',
    (name) => {
      for (const { heading } of form) {
        const values = { ...answers, [name]: `### ${heading}` };
        expect(readForm(render(values), form)).toEqual(values);
      }
    },
  );

  it('gives no value to a heading that is not in its place', () => {
    expect(readForm(`Hello\n\n${render(answers)}`, form)).toEqual({ sourcePage: '/pricing' });
    expect(readForm(render(answers).replace('### Email', '### E-Mail'), form)).toMatchObject({
      firstName: 'Ada',
      sourcePage: '/pricing',
    });
    expect(readForm(render(answers).replace('### Email', '### E-Mail'), form)).not.toHaveProperty(
      'email',
    );
  });

  it('reads the message to the end when what should follow it does not stand', () => {
    const body = render(answers).replace('### Source page', '### Page');
    const values = readForm(body, form);
    expect(values).not.toHaveProperty('sourcePage');
    expect(values['message']).toContain('### Page');
  });

  it('takes an empty field before its repeated heading for that heading as a value', () => {
    const tail = [...form, { name: 'correlationId', heading: 'Correlation ID', multiline: false }];
    const body = `${render(answers).replace('/pricing', '### Correlation ID')}\n### Correlation ID\n\n`;
    expect(readForm(body, tail)).toEqual({ ...answers, sourcePage: '### Correlation ID' });
  });

  it('compares headings in NFC', () => {
    const german = [{ name: 'company', heading: 'Büro', multiline: false }];
    expect(readForm('### Bu\u0308ro\n\nHier', german)).toEqual({ company: 'Hier' });
  });

  it('survives NUL, lone surrogates and 65,536 characters', () => {
    const message = `\u0000\uD800${'### Email\n\n'.repeat(5000)}end`;
    expect(readForm(render({ ...answers, message }), form)).toEqual({
      ...answers,
      message,
    });
  });
});

describe('whatever a visitor types', () => {
  const heading = fc.constantFrom(...form.map((field) => `### ${field.heading}`));
  const line = fc
    .oneof(heading, fc.string({ maxLength: 20 }), fc.constantFrom('```', '~~~', '<!--', '-->', ''))
    .map((text) => text.replaceAll(/[\r\n]/g, ' ').trim());
  const oneLine = line.map((text) => (text === '' ? '_No response_' : text));
  const manyLines = fc
    .array(line, { maxLength: 12 })
    .map((lines) => lines.join('\n').trim())
    .map((text) => (text === '' ? '_No response_' : text));
  const typed = fc.record({
    firstName: oneLine,
    email: oneLine,
    company: oneLine,
    interest: oneLine,
    message: manyLines,
    sourcePage: oneLine,
  });

  it('changes no field but its own', () => {
    fc.assert(
      fc.property(typed, fc.constantFrom('\n', '\r\n'), (values, eol) => {
        const expected = Object.fromEntries(
          Object.entries(values).filter(([, value]) => value !== '_No response_'),
        );
        expect(readForm(render(values, eol), form)).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });
});
