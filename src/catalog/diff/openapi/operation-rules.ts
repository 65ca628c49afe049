import { isRecord } from '#shared/text/json.ts';
import {
  contentOf,
  parametersOf,
  pathsOf,
  requestBodyOf,
  requirementsOf,
  responsesOf,
} from './operation-shape.ts';
import type { Operation, Parameter } from './operation-shape.ts';
import { entryOf, resolve } from './comparison.ts';
import type { At, Comparison, Direction, Entry, Verdict } from './comparison.ts';
import { compareSchemas, settleSchemas } from './schema-rules.ts';

type Operations = { before: Operation; after: Operation };

/** Says what of two OpenAPI documents hurts a client that was written for the first one. */
export function compareOperations(comparison: Comparison): void {
  const after = pathsOf(comparison, 'after');
  for (const [path, was] of pathsOf(comparison, 'before')) {
    const is = after.get(path);
    if (!is) comparison.say(removed(was.at, 'the path is gone'));
    for (const [method, operation] of is ? was.operations : []) {
      const now = is?.operations.get(method);
      if (!now) comparison.say(removed(operation.entry.at, 'the operation is gone'));
      else for (const rule of RULES) rule(comparison, { before: operation, after: now });
    }
  }
  settleSchemas(comparison);
}

function removed(at: At, text: string): Verdict {
  return { at, kind: 'removed', impact: 'breaking', text };
}

/** A parameter that has to be sent now; one that takes less, or is written in another way. */
function parameters(comparison: Comparison, { before, after }: Operations): void {
  const [was, is] = [
    parametersOf(comparison, 'before', before),
    parametersOf(comparison, 'after', after),
  ];
  for (const [name, parameter] of is) {
    const former = was.get(name);
    const { at, isRequired, label } = parameter;
    if (isRequired && former?.isRequired !== true)
      comparison.say({
        at: former ? [...at, 'required'] : at,
        kind: former ? 'changed' : 'added',
        impact: 'breaking',
        text: `the ${label} is required now`,
      });
    if (former) parameterPair(comparison, former, parameter);
  }
  for (const [name, { at, label }] of was)
    if (!is.has(name))
      comparison.say({
        ...removed(at, `the ${label} is gone: it may be ignored, or refused`),
        impact: 'unclassified',
      });
}

function parameterPair(comparison: Comparison, was: Parameter, is: Parameter): void {
  const isShared = was.at.join('\n') === is.at.join('\n');
  if (was.style !== is.style)
    comparison.say({
      at: is.at,
      kind: 'changed',
      impact: 'breaking',
      text: `the ${is.label} is written in another way`,
    });
  compareContent(comparison, {
    direction: 'request',
    site: isShared ? is.at : is.site,
    before: was.content,
    after: is.content,
  });
}

/** A body that has to be sent now, or can be sent no more in a media type. */
function requestBody(comparison: Comparison, { before, after }: Operations): void {
  const [was, is] = [
    requestBodyOf(comparison, 'before', before),
    requestBodyOf(comparison, 'after', after),
  ];
  if (is?.isRequired === true && was?.isRequired !== true)
    comparison.say({
      at: was ? [...is.at, 'required'] : is.at,
      kind: was ? 'changed' : 'added',
      impact: 'breaking',
      text: 'a request body is required now',
    });
  if (was && is)
    compareContent(comparison, {
      direction: 'request',
      site: is.site,
      before: was.content,
      after: is.content,
    });
  else if (was)
    comparison.say({
      ...removed(was.at, 'the request body is not asked for any more'),
      impact: 'unclassified',
    });
}

type Contents = {
  direction: Direction;
  site: At;
  before: Map<string, Entry>;
  after: Map<string, Entry>;
};

function compareContent(
  comparison: Comparison,
  { direction, site, before, after }: Contents,
): void {
  for (const [type, was] of before) {
    const is = [type, `${type.split('/')[0]}/*`, '*/*'].map((one) => after.get(one)).find(Boolean);
    if (is)
      compareSchemas(comparison, {
        direction,
        site: is.at.join('\n') === was.at.join('\n') ? is.at : site,
        before: was,
        after: is,
      });
    else
      comparison.say(
        removed(
          was.at.slice(0, -1),
          `the media type ${type} is ${direction === 'request' ? 'not accepted any more' : 'gone'}`,
        ),
      );
  }
}

/** A response of success that is gone, or its headers; one of failure is narrower only. */
function responses(comparison: Comparison, { before, after }: Operations): void {
  const [was, is] = [
    responsesOf(comparison, 'before', before),
    responsesOf(comparison, 'after', after),
  ];
  for (const [status, response] of was) {
    const now = is.get(status) ?? is.get(`${status[0]}XX`);
    if (now) responsePair(comparison, { status, before: response, after: now }, { before, after });
    else if (/^[123]/.test(status))
      comparison.say(removed(response.site, `the response ${status} is gone`));
  }
  for (const [status, { site }] of is)
    if (/^[123]/.test(status) && !was.has(status) && !was.has(`${status[0]}XX`))
      comparison.say({
        at: site,
        kind: 'added',
        impact: 'unclassified',
        text: `the response ${status} can come now`,
      });
}

type Responses = { status: string; before: Entry & { site: At }; after: Entry & { site: At } };

function responsePair(
  comparison: Comparison,
  { before, after }: Responses,
  operations: Operations,
): void {
  const isShared = before.at.join('\n') === after.at.join('\n');
  const home = isShared ? after.at : after.site;
  compareContent(comparison, {
    direction: 'response',
    site: home,
    before: contentOf(comparison, 'before', before, operations.before),
    after: contentOf(comparison, 'after', after, operations.after),
  });
  const [was, is] = [headersOf(before), headersOf(after)];
  for (const [name, header] of was) {
    const at = [...home, 'headers', header.at.at(-1) ?? name];
    const now = is.get(name);
    if (!now) {
      comparison.say(removed(at, `the header ${name} is gone`));
      continue;
    }
    const [former, latter] = [
      resolve(comparison, 'before', header),
      resolve(comparison, 'after', now),
    ];
    if (entryOf(former, 'required').value === true && entryOf(latter, 'required').value !== true)
      comparison.say({
        at: [...latter.at, 'required'],
        kind: 'changed',
        impact: 'breaking',
        text: `the header ${name} can be missing now`,
      });
    compareSchemas(comparison, {
      direction: 'response',
      site: at,
      before: schemaOf(former),
      after: schemaOf(latter),
    });
  }
}

/** Of Swagger 2.0 a header is its own schema. */
function schemaOf(header: Entry): Entry {
  const schema = entryOf(header, 'schema');
  return schema.value === undefined ? header : schema;
}

function headersOf(response: Entry): Map<string, Entry> {
  const headers = entryOf(response, 'headers');
  if (!isRecord(headers.value)) return new Map();
  return new Map(
    Object.keys(headers.value).map((name) => [name.toLowerCase(), entryOf(headers, name)]),
  );
}

/** Whoever came with what was enough has to come with more. */
function security(comparison: Comparison, { before, after }: Operations): void {
  const [was, is] = [
    requirementsOf(comparison, 'before', before),
    requirementsOf(comparison, 'after', after),
  ];
  const isEnough = (given: ReadonlySet<string>): boolean =>
    is.needs.some((need) => [...need].every((one) => given.has(one)));
  if (!was.needs.every(isEnough))
    comparison.say({
      at: is.at,
      kind: 'changed',
      impact: 'breaking',
      text: 'credentials that were enough are not any more',
    });
}

const RULES = [parameters, requestBody, responses, security];
