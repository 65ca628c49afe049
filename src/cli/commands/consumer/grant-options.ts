import type { Command } from 'commander';
import type { GrantInput } from '#access/grants/grant.ts';
import { UsageError } from '../../command.ts';

/** `--grant` and `--label` as they stood on the command line. */
type GrantToken = { kind: 'grant' | 'label'; text: string };

/** What `addGrantOptions` yields: both options hold the one list of tokens. */
export type GrantOptions = { grant?: GrantToken[]; label?: GrantToken[] };

/** Adds `--grant` and `--label`, both repeatable; a label belongs to the grant before it. */
export function addGrantOptions(command: Command): Command {
  const tokens: GrantToken[] = [];
  const collect =
    (kind: GrantToken['kind']) =>
    (text: string): GrantToken[] => {
      tokens.push({ kind, text });
      return tokens;
    };
  return command
    .option(
      '--grant <action>',
      'what the consumer may do: leads:read (all leads, unless labels follow)',
      collect('grant'),
    )
    .option(
      '--label <name>',
      'only leads with this label, for the grant before it (repeatable: with all of them)',
      collect('label'),
    );
}

/** The grants that the options name. @throws UsageError for a label without its grant */
export function toGrantInputs({ grant, label }: GrantOptions): GrantInput[] {
  const tokens = grant ?? label ?? [];
  const actions = tokens.filter(({ kind }) => kind === 'grant');
  const only = actions.length === 1 ? actions[0] : undefined;
  const labelsOf = new Map<GrantToken, string[]>(actions.map((action) => [action, []]));
  let current = only;
  for (const token of tokens) {
    if (token.kind === 'grant') current = token;
    else if (current) labelsOf.get(current)?.push(token.text);
    else throw new UsageError('--label needs a --grant before it, such as --grant leads:read');
  }
  return [...labelsOf].map(([{ text }, labels]) =>
    labels.length === 0 ? { action: text } : { action: text, labels },
  );
}
