import { isRecord } from '#shared/text/json.ts';
import {
  type At,
  type Comparison,
  type Direction,
  type Document,
  type Entry,
  entryOf,
  listOf,
  membersOf,
  resolve,
  type Side,
  type Verdict,
} from './comparison.ts';

/** What clients rely on, and what that consists of: paths of operations, those of parameters, a body, responses. */
export type Part = {
  label: string;
  /** What it is known by, if not its label, and what takes its place. */
  key?: string;
  also?: string[];
  at: At;
  direction: Direction;
  /** What it means that it is there now, and that it is not any more; nothing by default. */
  added?: Verdict['impact'];
  removed?: Verdict['impact'];
  isRequired?: boolean;
  /** How a value of it is written. */
  style?: string;
  schema?: Entry;
  /** What a caller has to come with, one of the sets being enough. */
  needs?: { at: At; sets: Set<string>[] };
  parts?: () => Part[];
};

/** `sent`: which way goes what the caller of an operation sends. By webhooks and callbacks clients are called. */
type Reading = Document & { sent: Direction };
type Operation = Reading & { path: string; item: Entry; entry: Entry };

const METHODS = new Set('get put post delete options head patch trace query'.split(' '));
const PROMISED = { direction: 'response', removed: 'breaking' } as const;

export function partsOf(comparison: Comparison, side: Side): Part[] {
  const document = { value: comparison[side], at: [] };
  return [
    ...itemsOf({ comparison, side, sent: 'request' }, entryOf(document, 'paths'), 'path'),
    ...itemsOf({ comparison, side, sent: 'response' }, entryOf(document, 'webhooks'), 'webhook'),
  ];
}

/** By their paths, in which the names of parameters are nothing to clients. */
function itemsOf(reading: Reading, owner: Entry, label: string): Part[] {
  return membersOf(owner).map(([path, entry]) => ({
    ...PROMISED,
    label,
    key: `${label} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`,
    at: entry.at,
    parts: () => operationsOf(reading, path, resolve(reading, entry)),
  }));
}

function operationsOf(reading: Reading, path: string, item: Entry): Part[] {
  const all = membersOf(item).filter(([method]) => METHODS.has(method));
  return all.map(([key, entry]) => {
    const operation = { ...reading, path, item, entry };
    const rules = [parametersOf, bodyOf, responsesOf, callbacksOf];
    return {
      ...PROMISED,
      label: 'operation',
      key,
      at: entry.at,
      needs: reading.sent === 'request' ? needsOf(operation) : undefined,
      parts: () => rules.flatMap((partsIn) => partsIn(operation)),
    };
  });
}

function callbacksOf({ entry, ...reading }: Operation): Part[] {
  if (reading.sent === 'response') return [];
  return membersOf(entryOf(entry, 'callbacks')).flatMap(([name, one]) =>
    itemsOf({ ...reading, sent: 'response' }, resolve(reading, one), `callback ${name}`),
  );
}

/** Those of the path, too; by where they stand and their names. The body of Swagger 2.0 is one of them. */
function parametersOf(operation: Operation): Part[] {
  const owners = [operation.item, operation.entry];
  return owners
    .flatMap((owner) => listOf(entryOf(owner, 'parameters')))
    .map((listed) => {
      const { value, at } = resolve(operation, listed);
      const [place, name] = ['in', 'name'].map((word) =>
        String(entryOf({ value, at }, word).value),
      );
      if (place === 'body')
        return sentPart(operation, 'request body', { value, at }, typesIn(operation, 'consumes'));
      const own = at === listed.at ? [...at.slice(0, -1), `${place}:${name}`] : at;
      const label = `${place === 'formData' ? 'form' : place} parameter \`${name}\``;
      const part = sentPart(operation, label, { value, at: own }, ['schema']);
      return { ...part, key: `${place}:${keyOf(operation, place, name)}`, style: styleOf(value) };
    });
}

function keyOf({ path }: Operation, place?: string, name = ''): string | number {
  if (place === 'header') return name.toLowerCase();
  if (place !== 'path') return name;
  return [...path.matchAll(/\{([^{}]*)\}/g)].findIndex(([, word]) => word === name);
}

const FORM = new Set<unknown>(['query', 'cookie', 'formData']);

function styleOf(value: unknown): string {
  const { in: place, ...written }: Record<string, unknown> = isRecord(value) ? value : {};
  const { style = FORM.has(place) ? 'form' : 'simple', explode = style === 'form' } = written;
  const { collectionFormat = 'csv', allowReserved = false } = written;
  return JSON.stringify([style, explode, collectionFormat, allowReserved]);
}

function bodyOf(operation: Operation): Part[] {
  const body = resolve(operation, entryOf(operation.entry, 'requestBody'));
  return isRecord(body.value) ? [sentPart(operation, 'request body', body, [])] : [];
}

/** A value that the caller sends. */
function sentPart(
  { sent: direction }: Reading,
  label: string,
  entry: Entry,
  types: readonly string[],
): Part {
  const isRequired = entryOf(entry, 'required').value === true;
  return {
    label,
    direction,
    at: entry.at,
    isRequired,
    added: direction === 'request' && isRequired ? 'breaking' : undefined,
    removed: direction === 'request' ? 'unclassified' : 'breaking',
    parts: () => contentOf(direction, entry, types),
  };
}

/** The schemas of a `content` by media type, else the one schema that stands there, or is the value itself. */
function contentOf(direction: Direction, owner: Entry, types: readonly string[]): Part[] {
  const content = membersOf(entryOf(owner, 'content'));
  const whole = entryOf(owner, 'schema');
  const partOf = (written: string, at: At, schema: Entry): Part => {
    const type = written.split(';')[0]?.trim().toLowerCase() ?? '';
    const also = [`${type.split('/')[0]}/*`, '*/*'];
    return { ...PROMISED, direction, label: `media type ${type}`, key: type, also, at, schema };
  };
  return content.length > 0
    ? content.map(([type, media]) => partOf(type, media.at, entryOf(media, 'schema')))
    : types.map((type) => partOf(type, owner.at, whole.value === undefined ? owner : whole));
}

function typesIn({ comparison, side, entry }: Operation, word: string): string[] {
  const types = entryOf(entry, word).value ?? comparison[side][word];
  return Array.isArray(types) && types.length > 0 ? types.map(String) : ['application/json'];
}

/** That one of failure comes no more is narrower only. */
function responsesOf(operation: Operation): Part[] {
  const direction = operation.sent === 'request' ? 'response' : 'request';
  return membersOf(entryOf(operation.entry, 'responses')).map(([code, listed]) => {
    const response = resolve(operation, listed);
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
        ...contentOf(direction, response, types),
        ...headersOf(operation, direction, response),
      ],
    };
  });
}

function headersOf(reading: Reading, direction: Direction, response: Entry): Part[] {
  return membersOf(entryOf(response, 'headers')).map(([name, listed]) => {
    const header = resolve(reading, listed);
    return {
      label: `header ${name.toLowerCase()}`,
      direction,
      at: header.at,
      removed: direction === 'response' ? 'breaking' : undefined,
      isRequired: entryOf(header, 'required').value === true,
      parts: () => contentOf(direction, header, ['schema']),
    };
  });
}

/** Schemes by what they are, with their scopes. */
function needsOf({ entry, ...reading }: Operation): Part['needs'] {
  const document = { value: reading.comparison[reading.side], at: [] };
  const own = entryOf(entry, 'security');
  const security = own.value === undefined ? entryOf(document, 'security') : own;
  const schemes = ['components/securitySchemes', 'securityDefinitions'].map((path) =>
    path.split('/').reduce(entryOf, document as Entry),
  );
  const sets = listOf(security).map((one) => {
    const words = membersOf(one).flatMap(([name, { value: scopes }]) => {
      const found = schemes.map((all) => resolve(reading, entryOf(all, name)).value).find(isRecord);
      const { type, in: place, name: field, scheme } = found ?? { type: name };
      const what = JSON.stringify([type, place, field, scheme]);
      return [
        what,
        ...(Array.isArray(scopes) ? scopes.map((scope) => `${what} ${String(scope)}`) : []),
      ];
    });
    return new Set(words);
  });
  return { at: security.at, sets: sets.length > 0 ? sets : [new Set<string>()] };
}
