/** `docs/cli.md` is what `--help` says. After a change: `npm test -- test/cli/cli-docs --update`. */
import type { Command } from 'commander';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createWholeProgram } from '#cli/cli.ts';
import { systemClock } from '#shared/clock.ts';
import { terminalTo } from '../support/command.ts';
import { logOutputTo } from '../support/log-output.ts';

const COLUMNS_MAX = 80;

const program = await createWholeProgram({
  environment: {},
  terminal: terminalTo({ out: '', notes: '' }),
  clock: systemClock,
  logOutput: logOutputTo(() => undefined),
});

/** As a person gets it, with what stands after the options. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    getOutHelpWidth: () => COLUMNS_MAX,
    writeOut: (part) => void (text += part),
  });
  command.outputHelp();
  return text.trimEnd();
}

/** The command and all below it, in the order of the help, with their whole names. */
function family(command: Command, name: string): { name: string; command: Command }[] {
  const below = command.commands.flatMap((one) => family(one, `${name} ${one.name()}`));
  return [{ name, command }, ...below];
}

const all = family(program, 'trackport');

test.each(all)('the help of $name fits a terminal', ({ command }) => {
  const long = helpOf(command)
    .split('\n')
    .filter((line) => line.length > COLUMNS_MAX);
  expect(long).toEqual([]);
});

test('docs/cli.md says what the help says', async () => {
  const sections = all.map(
    ({ name, command }) => `## ${name}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  );
  const head = `# The command line

What \`--help\` says of each command. Exit codes, and what \`--json\` prints: [operations](operations.md#the-command-line).
`;
  await expect([head, ...sections].join('\n')).toMatchFileSnapshot('../../docs/cli.md');
});

test.each([
  [['consumer', 'cr'], 'create'],
  [['cat'], 'catalog'],
  [['consumer', 'create', '--gr'], '--grant'],
])('a shell completes %j', (words, expected) => {
  const print = vi.spyOn(console, 'log').mockReturnValue();
  onTestFinished(() => print.mockRestore());
  program.parse(['complete', '--', ...words], { from: 'user' });
  expect(print.mock.calls.map(([line]) => String(line).split('\t')[0])).toContain(expected);
});
