import type { Finding } from '#shared/report.ts';
import { CommandFailure, type Open, printJson, type Register } from '../command.ts';
import { printable, renderTable, renderWord } from '../table.ts';

export type Doctor = {
  /** Looks at everything; with `fix` also creates missing labels. */
  examine(options: { fix: boolean }): Promise<readonly Finding[]>;
};

const colours = { ok: 'green', fixed: 'cyan', warning: 'yellow', failed: 'red' } as const;

/** `doctor`: says why this configuration does not work, and how to fix it. */
export const registerDoctor: Register<Open<Doctor>> = (command, { actionOf, services }) => {
  const action = actionOf(services);
  command.option('--fix', 'create the labels that are missing').action(
    action<{ fix?: boolean }>(async ({ services, terminal, isJson, options }) => {
      const findings = await services.examine({ fix: options.fix === true });
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
