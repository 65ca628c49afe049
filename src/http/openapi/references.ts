import { STATUS_CODES } from 'node:http';
import { type OpenApiDocument, operationsOf } from './document.ts';
import { PROBLEM_MEDIA_TYPE } from '../responses/problem.ts';
import { commonProblems, usualHeaders } from './responses.ts';

type Parameter = { in: string; name: string };
type Response = {
  headers?: Record<string, object>;
  content?: Record<string, { examples?: Record<string, object> }>;
};
type Reference = { $ref: string };

/**
 * The document with every problem, and every parameter of several operations, written once as a
 * component. The last step: what comes after it would have to follow references.
 */
export function shareParts(document: OpenApiDocument): OpenApiDocument {
  const copy = structuredClone(document);
  const operations = operationsOf(copy) as Found[];
  const parameters = shareParameters(operations);
  const responses = shareProblems(operations);
  return { ...copy, components: { ...copy.components, responses, parameters } as object };
}

/** An operation, before and after. */
type Found = {
  path: string;
  operation: {
    tags?: string[];
    parameters?: (Parameter | Reference)[];
    responses: Record<string, Response | Reference>;
  };
};

/** A parameter with its place. */
type Use = { parameter: Parameter; text: string; path: string; tag: string };

function shareParameters(operations: readonly Found[]): Record<string, Parameter> {
  const uses = operations.flatMap(({ path, operation: { parameters = [], tags = [] } }) =>
    (parameters as Parameter[]).map((parameter): Use => ({
      parameter,
      text: JSON.stringify(parameter),
      path,
      tag: tags[0] ?? '',
    })),
  );
  const shared = [...Map.groupBy(uses, ({ text }) => text).values()].flatMap(([first, ...more]) =>
    first && more.length > 0 ? [first] : [],
  );
  const names = new Map(shared.map((use) => [use.text, nameOfParameter(use, shared)]));
  for (const { operation } of operations) {
    if (!operation.parameters) continue;
    operation.parameters = operation.parameters.map((parameter) =>
      reference('parameters', names.get(JSON.stringify(parameter)), parameter),
    );
  }
  return named(shared.map(({ parameter, text }) => [names.get(text) ?? '', parameter]));
}

/**
 * `Limit`. Where several are called alike, what they are parameters of comes first (`CatalogId`), and
 * the place last when that differs (`PartnerIdInQuery`).
 */
function nameOfParameter({ parameter, path, tag }: Use, shared: readonly Use[]): string {
  const alike = shared.filter((use) => use.parameter.name === parameter.name);
  const besideIt = alike.filter((use) => use.parameter.in === parameter.in);
  const [before = ''] = path.split(`/{${parameter.name}}`, 1);
  const owner = parameter.in === 'path' ? before.slice(before.lastIndexOf('/') + 1) : tag;
  return [
    besideIt.length > 1 ? toPascal(owner) : '',
    toPascal(parameter.name),
    besideIt.length < alike.length ? `In${toPascal(parameter.in)}` : '',
  ].join('');
}

function shareProblems(operations: readonly Found[]): Record<string, Response> {
  const shared: [string, Response][] = [];
  for (const { operation } of operations)
    for (const [status, inline] of Object.entries(operation.responses)) {
      const response = inline as Response;
      if (!response.content?.[PROBLEM_MEDIA_TYPE]) continue;
      const name = nameOfProblem(Number(status), response);
      shared.push([name, response]);
      operation.responses[status] = reference('responses', name, response);
    }
  return named(shared);
}

/**
 * Made of all that tells a problem response from others of its status, so that it stays the same
 * whatever else comes into the document: `NotFoundLeadNotFoundWithRateLimit`.
 */
function nameOfProblem(status: number, { content, headers = {} }: Response): string {
  const reason = toPascal(STATUS_CODES[status] ?? String(status));
  const common: readonly string[] = commonProblems;
  const codes = Object.keys(content?.[PROBLEM_MEDIA_TYPE]?.examples ?? {})
    .filter((code) => !common.includes(code))
    .map(toPascal)
    .filter((code, _at, { length }) => length > 1 || code !== reason);
  const usual = usualHeaders(status);
  const further = Object.keys(headers)
    .filter((name) => !usual.includes(name) && name !== 'RateLimit-Policy')
    .map(toPascal);
  return [reason, ...codes, ...(further.length > 0 ? ['With', ...further] : [])].join('');
}

function reference<T>(
  kind: 'parameters' | 'responses',
  name: string | undefined,
  inline: T,
): T | Reference {
  return name === undefined ? inline : { $ref: `#/components/${kind}/${name}` };
}

/** Sorted by name. @throws {TypeError} when two different parts have one name */
function named<T>(parts: readonly (readonly [string, T])[]): Record<string, T> {
  const byName = new Map<string, T>();
  for (const [name, part] of parts.toSorted(([left], [right]) => (left < right ? -1 : 1))) {
    const known = byName.get(name) ?? part;
    if (JSON.stringify(known) !== JSON.stringify(part))
      throw new TypeError(`two parts of openapi.json would be called ${name}`);
    byName.set(name, part);
  }
  return Object.fromEntries(byName);
}

/** `If-Match` and `leadId` as `IfMatch` and `LeadId`. */
function toPascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}
