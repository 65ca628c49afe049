import { z } from 'zod';
import { invalid } from './response.ts';
import type { AttributePatch, FieldInput } from '../world/change-attributes.ts';
import type { IssueField, World } from '../world/model.ts';

const VALUES_MAX = 25;

/** The member `issue_field_values` of a body; undefined without it. @throws Refusal 422 */
export function fieldsIn(
  world: World,
  body: Readonly<Record<string, unknown>>,
): AttributePatch['fields'] {
  const given = body['issue_field_values'];
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || given.length > VALUES_MAX) throw refused(given);
  return Object.fromEntries(
    given.map((item: unknown) => {
      const { field_id: id, value } = Object(item) as { field_id?: unknown; value?: unknown };
      const field = [...world.fields.values()].find((known) => known.id === id);
      if (!field) throw refused(id);
      return [field.name, inputOf(field, value)];
    }),
  );
}

function inputOf({ dataType, options }: IssueField, value: unknown): FieldInput {
  const option = z.string().refine((name) => options.includes(name));
  const input = {
    text: z.string(),
    number: z.number(),
    date: z.iso.date(),
    single_select: option.transform((name) => ({ option: name })),
    multi_select: z.array(option),
  }[dataType].safeParse(value);
  if (input.success) return input.data;
  throw refused(value);
}

function refused(value: unknown) {
  return invalid({
    resource: 'IssueFieldValue',
    field: 'value',
    code: 'invalid',
    ...((typeof value === 'string' || Number.isInteger(value)) && { value }),
  });
}
