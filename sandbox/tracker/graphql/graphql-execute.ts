import type { Field } from './graphql-syntax.ts';

/** An object of the graph: its type's name and what its fields give. */
export type GraphObject = {
  type: string;
  fields: Readonly<Record<string, (args: Readonly<Record<string, unknown>>) => GraphValue>>;
};
export type GraphValue = GraphObject | readonly GraphObject[] | string | number | boolean | null;

export type GraphProblem = { type?: string; path: string[]; message: string };

/** Raised by a field: the answer then has null there, and this in `errors`, with status 200. */
export class GraphError extends Error {
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.name = 'GraphError';
    this.type = type;
  }
}

/** A selection that the schema does not know: the answer then has no data at all. */
export class UnknownField extends Error {
  readonly path: string[];

  constructor(path: string[], message: string) {
    super(message);
    this.name = 'UnknownField';
    this.path = path;
  }
}

export function execute(
  target: GraphObject,
  fields: readonly Field[],
  problems: GraphProblem[],
  path: string[] = [],
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const field of fields)
    result[field.key] = valueOf(target, field, problems, [...path, field.key]);
  return result;
}

function valueOf(
  target: GraphObject,
  field: Field,
  problems: GraphProblem[],
  path: string[],
): unknown {
  if (field.name === '__typename') return target.type;
  const resolve = target.fields[field.name];
  if (!resolve)
    throw new UnknownField(path, `Field '${field.name}' doesn't exist on type '${target.type}'`);
  try {
    return complete(resolve(field.args), field, problems, path);
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    problems.push({ type: error.type, path, message: error.message });
    return null;
  }
}

function complete(
  value: GraphValue,
  field: Field,
  problems: GraphProblem[],
  path: string[],
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!('type' in value))
    return value.map((item, at) => complete(item, field, problems, [...path, String(at)]));
  if (!field.fields)
    throw new UnknownField(
      path,
      `Field must have selections (field '${field.name}' returns ${value.type} but has no selections)`,
    );
  return execute(value, field.fields, problems, path);
}
