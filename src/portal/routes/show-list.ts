/** Lists with filters in their addresses, which people type and send to each other. */
import type { z } from 'zod';
import { type FieldProblem, isTrackportError, refuse } from '#shared/errors.ts';
import type { Once, PortalFile, PortalPage } from '../page.ts';
import { problemOf } from '../shell/notice.ts';
import { checkInput } from './check-input.ts';
import type { WrongFilters } from './route-types.ts';

type Given = Readonly<Record<string, unknown>>;
type Show = (input: { query: unknown; wrong: WrongFilters }) => Promise<PortalPage | PortalFile>;

/** @throws {validation-failed} */
export function queryOf(given: Given, schema: z.ZodType): unknown {
  const checked = checkInput(schema, 'querystring', given);
  return checked.kind === 'good' ? checked.value : refuse(checked.problems);
}

/**
 * The list without the filters that its schema or its use case refuses, with what was typed still in
 * their fields. It shows more than was asked for, so it offers nothing that works on all that it shows.
 */
export async function showList(
  given: Given,
  schema: z.ZodType,
  show: Show,
): Promise<{ page: PortalPage; refused?: Once }> {
  const checked = checkInput(schema, 'querystring', given);
  const known = checked.kind === 'good' ? [] : checked.problems;
  try {
    return await showWithout(known, { given, schema, show });
  } catch (error) {
    const found = isTrackportError(error, 'validation-failed') ? (error.errors ?? []) : [];
    if (found.length === 0) throw error;
    return showWithout([...known, ...found], { given, schema, show });
  }
}

/** Characters of what was typed: the rest of a longer text is no use to anybody. */
const TYPED_SHOWN = 100;

type List = { given: Given; schema: z.ZodType; show: Show };

async function showWithout(problems: readonly FieldProblem[], { given, schema, show }: List) {
  const entries = Object.entries(given);
  const errorOf = (name: string) => problemOf(problems, name);
  const fitting = Object.fromEntries(entries.filter(([name]) => errorOf(name) === undefined));
  const wrong = Object.fromEntries(
    entries.flatMap(([name, value]) => {
      const error = errorOf(name);
      return error === undefined
        ? []
        : [[name, { value: String(value).slice(0, TYPED_SHOWN), error }]];
    }),
  );
  const page = (await show({ query: queryOf(fitting, schema), wrong })) as PortalPage;
  if (problems.length === 0) return { page };
  const { actions: _actions, ...wider } = page;
  const details = problems.map(({ detail }) => detail).join(' ');
  const notice = `Shown without a filter that is wrong: ${details}`;
  return {
    page: { ...wider, status: 400, hasProblems: true },
    refused: { notice, isUndone: true },
  };
}
