import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  escapeData,
  escapeProperty,
  renderAnnotation,
  repositoryPath,
} from '#cli/commands/catalog/catalog-import.ts';

/** As `actions/runner` reads it: `ActionCommand.TryParseV2`. */
function readByRunner(line: string) {
  const [, head = '', data = ''] = /^::(.*?)::(.*)$/s.exec(line.trimStart()) ?? [];
  const space = head.indexOf(' ');
  const properties = head.slice(space + 1).split(',');
  const plain = (text: string) => text.replaceAll('%0D', '\r').replaceAll('%0A', '\n');
  return {
    command: space < 0 ? head : head.slice(0, space),
    properties: Object.fromEntries(
      properties.map((pair) => {
        const at = pair.indexOf('=');
        const value = plain(pair.slice(at + 1));
        const read = value.replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%25', '%');
        return [pair.slice(0, at), read];
      }),
    ),
    data: plain(data).replaceAll('%25', '%'),
  };
}

test('a finding is a command with file, line and column', () => {
  const finding = { severity: 'error', line: 3, column: 5, code: 'required', detail: 'is missing' };
  expect(renderAnnotation({ ...finding, severity: 'error', pointer: '#/spec/a' }, 'a.yaml')).toBe(
    '::error file=a.yaml,line=3,col=5,title=required::#/spec/a: is missing',
  );
  const run = renderAnnotation({ severity: 'warning', code: 'stopped', detail: '5 %\r\nof' });
  expect(run).toBe('::warning title=stopped::5 %25%0D%0Aof');
});

test('what GitHub reads is escaped as its own tools do', () => {
  expect(escapeData('a%b\r\nc:d,e')).toBe('a%25b%0D%0Ac:d,e');
  expect(escapeProperty('a%b\r\nc:d,e\u001b')).toBe('a%25b%0D%0Ac%3Ad%2Ce?');
});

const printableText = fc
  .string({
    unit: fc.constantFrom(
      ...'%|:|,|=|\r|\n| |a|é|0|A|D|2|5|C|3'.split('|'),
      '::',
      '%0A',
      '%3A',
      '##[error]',
    ),
  })
  .map((text) => text.replaceAll(/[^\P{Cc}\r\n]/gu, ''));

test('no file name and no text can end a command, or begin another one', () => {
  fc.assert(
    fc.property(printableText, printableText, (file, detail) => {
      const line = renderAnnotation(
        { severity: 'error', line: 1, column: 2, code: 'c', detail },
        file,
      );
      expect(line).not.toMatch(/[\r\n]/);
      const read = readByRunner(line);
      expect(read.command).toBe('error');
      expect(read.properties).toEqual({ file, line: '1', col: '2', title: 'c' });
      expect(read.data).toBe(detail);
    }),
  );
});

test.each([
  ['/repo/specs/a.yaml', 'specs/a.yaml'],
  ['/repo/a.yaml', 'a.yaml'],
  ['/repo/..a/b.yaml', '..a/b.yaml'],
  ['/repository/a.yaml', '/repository/a.yaml'],
])('%s is named %s in a checkout at /repo', (file, named) => {
  expect(repositoryPath(file, '/repo')).toBe(named);
});
