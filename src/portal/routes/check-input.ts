/** The parts of a request by their schemas. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type FieldProblem, TrackportError } from '#shared/errors.ts';
import { checkFields, type Part, PROBLEMS_MAX } from '#shared/field-problems.ts';

/** What takes nothing. */
export const nothing = z.strictObject({});

/** One part of a request by its schema; all that is wrong with it comes at once. */
export function checkInput<S extends z.ZodType>(
  schema: S,
  part: Part,
  given: unknown,
): ReturnType<typeof checkFields<S>> {
  const checked = checkFields(schema, part, given);
  if ('value' in checked) return checked;
  const problems = checked.problems.slice(0, PROBLEMS_MAX);
  return { problems: part === 'body' ? problems.map(toFormWords) : problems };
}

/** A field of a form has its label before it: whole sentences do without the name in the code. */
export function toFormWords(problem: FieldProblem): FieldProblem {
  return { ...problem, detail: problem.detail.replace(/^`[^`]*`: (?=\p{Lu})/u, '') };
}

/** A path that no object can have is one where nothing is. @throws {not-found} */
export function paramsOf(request: FastifyRequest, schema: z.ZodType): unknown {
  const checked = checkInput(schema, 'params', request.params);
  if ('value' in checked) return checked.value;
  throw new TrackportError('not-found', { detail: 'There is no page at this address.' });
}

/** The path of an address. */
export const pathOf = ({ url }: Pick<FastifyRequest, 'url'>): string => url.split('?')[0] ?? '';
