import { isRecord } from '#shared/text/json.ts';
import { entryOf, membersOf, resolve } from './comparison.ts';
import type { At, Comparison, Entry, Side } from './comparison.ts';
import { listOf } from './schema-shape.ts';

const METHODS = new Set([
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
  'trace',
  'query',
]);

export type Operation = { path: string; item: Entry; entry: Entry };
type PathItem = { at: At; operations: Map<string, Operation> };

/** By their paths, in which the names of parameters are nothing to clients. */
export function pathsOf(comparison: Comparison, side: Side): Map<string, PathItem> {
  const paths = membersOf({ value: comparison[side]['paths'], at: ['paths'] });
  return new Map(
    paths.map(([path, entry]) => {
      const item = resolve(comparison, side, entry);
      const operations = membersOf(item).filter(([method]) => METHODS.has(method));
      return [
        path.replaceAll(/\{[^{}]*\}/g, '{}'),
        {
          at: entry.at,
          operations: new Map(
            operations.map(([method, one]) => [method, { path, item, entry: one }]),
          ),
        },
      ];
    }),
  );
}

export type Parameter = {
  at: At;
  site: At;
  label: string;
  isRequired: boolean;
  /** How a value of it is written. */
  style: string;
  content: Map<string, Entry>;
};

/** Those of the path, too; by where they stand and their names. The body of Swagger 2.0 is none. */
export function parametersOf(
  comparison: Comparison,
  side: Side,
  { path, item, entry }: Operation,
): Map<string, Parameter> {
  const found = new Map<string, Parameter>();
  for (const owner of [item, entry])
    for (const listed of listOf(entryOf(owner, 'parameters'))) {
      const { value, at } = resolve(comparison, side, listed);
      if (!isRecord(value) || value['in'] === 'body') continue;
      const [place, name] = [String(value['in']), String(value['name'])];
      const key = place === 'header' ? name.toLowerCase() : name;
      const number = [...path.matchAll(/\{([^{}]*)\}/g)].findIndex(([, one]) => one === name);
      const own = [...listed.at.slice(0, -1), `${place}:${name}`];
      const resolved = { value, at: at === listed.at ? own : at };
      found.set(`${place}:${place === 'path' ? number : key}`, {
        at: resolved.at,
        site: own,
        label: `${place === 'formData' ? 'form' : place} parameter \`${name}\``,
        isRequired: value['required'] === true,
        style: styleOf(value),
        content: contentIn(resolved, ['schema']),
      });
    }
  return found;
}

const FORM = new Set(['query', 'cookie', 'formData']);

function styleOf({ in: place, ...given }: Record<string, unknown>): string {
  const { style = FORM.has(String(place)) ? 'form' : 'simple', explode = style === 'form' } = given;
  const { collectionFormat = 'csv', allowReserved = false } = given;
  return JSON.stringify([style, explode, collectionFormat, allowReserved]);
}

/** The schemas of a `content` by media type, else the one schema that stands there, or is the value itself. */
function contentIn(owner: Entry, types: readonly string[]): Map<string, Entry> {
  const content = membersOf(entryOf(owner, 'content'));
  if (content.length > 0)
    return new Map(
      content.map(([type, media]) => [
        type.split(';')[0]?.trim().toLowerCase() ?? '',
        entryOf(media, 'schema'),
      ]),
    );
  const schema = entryOf(owner, 'schema');
  return new Map(types.map((type) => [type, schema.value === undefined ? owner : schema]));
}

type Body = { at: At; site: At; isRequired: boolean; content: Map<string, Entry> };

export function requestBodyOf(
  comparison: Comparison,
  side: Side,
  { entry, item }: Operation,
): Body | undefined {
  const given = entryOf(entry, 'requestBody');
  const listed = [...listOf(entryOf(entry, 'parameters')), ...listOf(entryOf(item, 'parameters'))];
  const old = listed
    .map((one) => resolve(comparison, side, one))
    .find(({ value }) => isRecord(value) && value['in'] === 'body');
  const body = old ?? resolve(comparison, side, given);
  if (!isRecord(body.value)) return undefined;
  const types = typesIn(comparison, side, { entry, word: 'consumes' });
  const content = old
    ? contentIn(body, types)
    : new Map(membersOf(entryOf(body, 'content')).length > 0 ? contentIn(body, []) : []);
  return {
    at: body.at,
    site: old ? body.at : given.at,
    isRequired: body.value['required'] === true,
    content,
  };
}

function typesIn(
  comparison: Comparison,
  side: Side,
  { entry, word }: { entry: Entry; word: string },
): string[] {
  const types = entryOf(entry, word).value ?? comparison[side][word];
  return Array.isArray(types) && types.length > 0 ? types.map(String) : ['application/json'];
}

export function responsesOf(
  comparison: Comparison,
  side: Side,
  { entry }: Operation,
): Map<string, Entry & { site: At }> {
  return new Map(
    membersOf(entryOf(entry, 'responses')).map(([status, one]) => [
      status.toUpperCase(),
      { ...resolve(comparison, side, one), site: one.at },
    ]),
  );
}

/** What a response holds; nothing where it has no body. */
export function contentOf(
  comparison: Comparison,
  side: Side,
  response: Entry,
  { entry }: Operation,
): Map<string, Entry> {
  const hasBody =
    isRecord(response.value) && ('content' in response.value || 'schema' in response.value);
  return hasBody
    ? contentIn(response, typesIn(comparison, side, { entry, word: 'produces' }))
    : new Map();
}

/** What a caller has to come with, one of the lists being enough: schemes by what they are, with their scopes. */
export function requirementsOf(
  comparison: Comparison,
  side: Side,
  { entry }: Operation,
): { at: At; needs: Set<string>[] } {
  const document = { value: comparison[side], at: [] };
  const own = entryOf(entry, 'security');
  const given = own.value === undefined ? entryOf(document, 'security') : own;
  const schemes = ['components/securitySchemes', 'securityDefinitions'].map((path) =>
    path.split('/').reduce(entryOf, document as Entry),
  );
  const needs = listOf(given).map((one) => {
    const words = membersOf(one).flatMap(([name, { value: scopes }]) => {
      const scheme = schemes
        .map((all) => resolve(comparison, side, entryOf(all, name)).value)
        .find(isRecord);
      const { type, in: place, name: field, scheme: kind } = scheme ?? { type: name };
      const what = JSON.stringify([type, place, field, kind]);
      return [
        what,
        ...(Array.isArray(scopes) ? scopes.map((scope) => `${what} ${String(scope)}`) : []),
      ];
    });
    return new Set(words);
  });
  return { at: given.at, needs: needs.length > 0 ? needs : [new Set<string>()] };
}
