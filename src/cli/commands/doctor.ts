import type { Finding } from '#doctor/finding.ts';
import { CommandFailure, printJson, type Register } from '../command.ts';
import { printable, renderTable, renderWord } from '../table.ts';

const colours = { ok: 'green', fixed: 'cyan', warning: 'yellow', failed: 'red' } as const;

/** `doctor`: says why this configuration does not work, and how to fix it. */
export const registerDoctor: Register = (command, { action }) => {
  command.option('--fix', 'create the labels that are missing').action(
    action<{ fix?: boolean }>(async ({ config, clock, terminal, isJson, options }) => {
      const { examine } = await import('#doctor/examine.ts');
      const findings = await examine({ config, clock }, { fix: options.fix === true });
      if (isJson) printJson(terminal, { ok: !hasFailed(findings), findings });
      else terminal.print(renderFindings(findings, terminal.hasColour));
      if (hasFailed(findings)) throw new CommandFailure();
    }),
  );
};

function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ state }) => state === 'failed');
}

function renderFindings(findings: readonly Finding[], hasColour: boolean): string {
  const rows = findings.map(({ state, subject, detail }) => [
    renderWord(state, colours[state], hasColour),
    printable(subject),
    printable(detail),
  ]);
  const fixes = findings.flatMap(({ subject, fix }) =>
    fix === undefined ? [] : [`  ${printable(subject)}: ${printable(fix)}`],
  );
  const table = renderTable(['state', 'check', 'found'], rows);
  return fixes.length === 0 ? table : `${table}\n\nWhat to do:\n${fixes.join('\n')}`;
}
