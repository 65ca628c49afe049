import { isRecord } from '#shared/text/json.ts';
import {
  type At,
  type Direction,
  type Document,
  type Entry,
  entryOf,
  listOf,
  membersOf,
  type Part,
  PROMISED,
  resolve,
} from './comparison.ts';
import { contentOf, styleOf } from './content.ts';

/**
 * `sent`: which way goes what the caller of an operation sends. By webhooks and callbacks clients are called.
 * `isConverted`: one of the documents is of Swagger 2.0, and the other is not.
 */
type Reading = { document: Document; sent: Direction; isConverted: boolean };
type Operation = Reading & { path: string; item: Entry; entry: Entry };

const METHODS = new Set('get put post delete options head patch trace query'.split(' '));

export function partsOf(document: Document, isConverted: boolean): Part[] {
  const root = { value: document.root, at: [] };
  const reading = { document, isConverted };
  return [
    ...itemsOf({ ...reading, sent: 'request' }, entryOf(root, 'paths'), 'path'),
    ...itemsOf({ ...reading, sent: 'response' }, entryOf(root, 'webhooks'), 'webhook'),
  ];
}

/** By their paths, in which the names of parameters are nothing to clients. */
function itemsOf(reading: Reading, owner: Entry, label: string): Part[] {
  return membersOf(owner).map(([path, entry]) => ({
    ...PROMISED,
    label,
    key: `${label} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`,
    at: entry.at,
    whole: { path, item: entry.value, ...aroundOf(reading.document) },
    parts: () => operationsOf(reading, path, resolve(reading.document, entry)),
  }));
}

/** Members of the document that an operation takes over where it has none of its own. */
function aroundOf({ root }: Document): object {
  const { security, securityDefinitions, consumes, produces, components } = root;
  const schemes = isRecord(components) ? components['securitySchemes'] : undefined;
  return { security, securityDefinitions, consumes, produces, schemes };
}

function operationsOf(reading: Reading, path: string, item: Entry): Part[] {
  const all = [
    ...membersOf(item).filter(([method]) => METHODS.has(method)),
    ...membersOf(entryOf(item, 'additionalOperations')),
  ];
  return all.map(([key, entry]) => {
    const operation = { ...reading, path, item, entry };
    const rules = [parametersOf, bodyOf, responsesOf, callbacksOf];
    return {
      ...PROMISED,
      label: 'operation',
      key,
      at: entry.at,
      needs: reading.sent === 'request' ? schemesIn(reading.document, entry) : undefined,
      parts: () => rules.flatMap((partsIn) => partsIn(operation)),
    };
  });
}

/** Credentials for an operation: schemes by their definitions, with their scopes. */
function schemesIn(document: Document, operation: Entry): { at: At; sets: Set<string>[] } {
  const root = { value: document.root, at: [] };
  const own = entryOf(operation, 'security');
  const security = own.value === undefined ? entryOf(root, 'security') : own;
  const schemes = ['components/securitySchemes', 'securityDefinitions'].map((path) =>
    path.split('/').reduce(entryOf, root as Entry),
  );
  const sets = listOf(security).map((one) => {
    const words = membersOf(one).flatMap(([name, { value: scopes }]) => {
      const found = schemes
        .map((all) => resolve(document, entryOf(all, name)).value)
        .find(isRecord);
      const what = JSON.stringify(found ? schemeOf(found) : [name]);
      return [
        what,
        ...(Array.isArray(scopes) ? scopes.map((scope) => `${what} ${String(scope)}`) : []),
      ];
    });
    return new Set(words);
  });
  return { at: security.at, sets: sets.length > 0 ? sets : [new Set<string>()] };
}

/** Names of schemes and of headers are the same in all letters. */
function schemeOf({ type, in: place, name, scheme }: Record<string, unknown>): unknown[] {
  if (type === 'basic') return ['http', 'basic'];
  if (type === 'http') return [type, String(scheme).toLowerCase()];
  return [type, place, place === 'header' ? String(name).toLowerCase() : name];
}

function callbacksOf({ entry, ...reading }: Operation): Part[] {
  if (reading.sent === 'response') return [];
  return membersOf(entryOf(entry, 'callbacks')).flatMap(([name, one]) =>
    itemsOf({ ...reading, sent: 'response' }, resolve(reading.document, one), `callback ${name}`),
  );
}

/** Headers that a document tells elsewhere. */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization']);

/** Those of the path, too; by where they stand and their names. The body of Swagger 2.0 is one of them. */
function parametersOf(operation: Operation): Part[] {
  const owners = [operation.item, operation.entry];
  const all = owners
    .flatMap((owner) => listOf(entryOf(owner, 'parameters')))
    .map((listed) => ({ listed, found: resolve(operation.document, listed) }));
  const isField = ({ found }: { found: Entry }): boolean =>
    operation.isConverted && textAt(found, 'in') === 'formData';
  const fields = all.filter(isField).map(({ found }) => found);
  const parts = all.filter((one) => !isField(one)).flatMap((one) => parameterOf(operation, one));
  return fields.length > 0 ? [...parts, formOf(operation, fields)] : parts;
}

function textAt(entry: Entry, word: string): string {
  return String(entryOf(entry, word).value);
}

function parameterOf(
  operation: Operation,
  { listed, found }: { listed: Entry; found: Entry },
): Part[] {
  const { value, at } = found;
  const [place, name] = [textAt(found, 'in'), textAt(found, 'name')];
  if (place === 'body')
    return [sentPart(operation, 'request body', found, typesIn(operation, 'consumes'))];
  if (place === 'header' && IGNORED_HEADERS.has(name.toLowerCase())) return [];
  const own = at === listed.at ? [...at.slice(0, -1), `${place}:${name}`] : at;
  const label = `${place === 'formData' ? 'form' : place} parameter \`${name}\``;
  const entry = { value, at: own };
  const style = styleOf(operation.document, entry);
  const part = sentPart(operation, label, entry, ['schema'], style?.isRepeated);
  const key = `${place}:${keyOf(operation, place, name)}`;
  const removed = 'breaking' as const;
  return [{ ...part, removed, key, style }];
}

/** The fields of a form of Swagger 2.0 as the body that they are since. */
function formOf(operation: Operation, fields: readonly Entry[]): Part {
  const nameOf = (field: Entry): string => textAt(field, 'name');
  const required = fields.filter((field) => entryOf(field, 'required').value === true).map(nameOf);
  const properties = Object.fromEntries(fields.map((field) => [nameOf(field), field.value]));
  const schema = { type: 'object', properties: withoutRequired(properties), required };
  const isFile = fields.some((field) => textAt(field, 'type') === 'file');
  const types = isFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  const { at } = entryOf(operation.entry, 'parameters');
  const value = { required: required.length > 0, schema };
  return sentPart(operation, 'request body', { value, at }, typesIn(operation, 'consumes', types));
}

/** Leaves out the `required` of a parameter, which says that the parameter has to be there. */
function withoutRequired(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...(field as object), required: [] }]),
  );
}

function keyOf({ path }: Operation, place?: string, name = ''): string | number {
  if (place === 'header') return name.toLowerCase();
  if (place !== 'path') return name;
  return [...path.matchAll(/\{([^{}]*)\}/g)].findIndex(([, word]) => word === name);
}

function bodyOf(operation: Operation): Part[] {
  const body = resolve(operation.document, entryOf(operation.entry, 'requestBody'));
  return isRecord(body.value) ? [sentPart(operation, 'request body', body, [])] : [];
}

/** A value that the caller sends. */
function sentPart(
  { sent: direction }: Reading,
  label: string,
  entry: Entry,
  types: readonly string[],
  isRepeated = false,
): Part {
  const isRequired = entryOf(entry, 'required').value === true;
  return {
    label,
    direction,
    at: entry.at,
    isRequired,
    added: direction === 'request' && isRequired ? 'breaking' : undefined,
    removed: direction === 'request' ? 'unclassified' : 'breaking',
    parts: () => contentOf({ direction, isText: types[0] === 'schema', isRepeated }, entry, types),
  };
}

function typesIn(
  { document, entry }: Operation,
  word: string,
  usual = 'application/json',
): string[] {
  const types = entryOf(entry, word).value ?? document.root[word];
  return Array.isArray(types) && types.length > 0 ? types.map(String) : [usual];
}

/** A response of failure that comes no more narrows what clients receive, and breaks nobody. */
function responsesOf(operation: Operation): Part[] {
  const direction = operation.sent === 'request' ? 'response' : 'request';
  return membersOf(entryOf(operation.entry, 'responses')).map(([code, listed]) => {
    const response = resolve(operation.document, listed);
    const status = code.toUpperCase();
    const hasBody =
      isRecord(response.value) && ('content' in response.value || 'schema' in response.value);
    const types = hasBody ? typesIn(operation, 'produces') : [];
    const isAwaited = direction === 'response' && /^[123]/.test(status);
    return {
      label: `response ${status}`,
      also: [`response ${status[0]}XX`],
      direction,
      at: response.at,
      added: isAwaited ? 'unclassified' : undefined,
      removed: isAwaited ? 'breaking' : undefined,
      parts: () => [
        ...contentOf({ direction }, response, types),
        ...headersOf(operation, direction, response),
      ],
    };
  });
}

function headersOf(reading: Reading, direction: Direction, response: Entry): Part[] {
  return membersOf(entryOf(response, 'headers')).map(([name, listed]) => {
    const header = resolve(reading.document, listed);
    return {
      label: `header ${name.toLowerCase()}`,
      direction,
      at: header.at,
      removed: direction === 'response' ? 'breaking' : undefined,
      isRequired: entryOf(header, 'required').value === true,
      parts: () => contentOf({ direction, isText: true }, header, ['schema']),
    };
  });
}
