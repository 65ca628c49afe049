/** Findings of an import, with the places of the file that they are about. */
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import {
  type FieldProblem,
  isTrackportError,
  systemCodeOf,
  type TrackportError,
} from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';
import { unescapeFragment } from '#shared/text/json.ts';
import { memoize } from '#shared/caching.ts';
import { parseYaml, placeAt, readYaml, type TextPlace } from '#shared/text/yaml.ts';
import type { ImportFile, ImportForm } from './import-file.ts';

/** Something to be said about a place of a file. An error keeps the file from what was to be done. */
export type ImportFinding = {
  severity: 'error' | 'warning';
  /** From 1, as editors count; absent where no place is known. */
  line?: number;
  column?: number;
  /** A JSON Pointer into the version, as a URI fragment. */
  pointer?: string;
  code: string;
  detail: string;
};

type Said = { pointer?: string; code: string; detail: string };

/** Findings with the places in the file that they are about. */
export function placeFindings(
  findings: readonly Said[],
  severity: ImportFinding['severity'],
  locate: LocatePointer,
): ImportFinding[] {
  return findings.map(({ pointer, code, detail }) => ({
    severity,
    ...(pointer !== undefined && { pointer, ...locate(pointer) }),
    code,
    detail,
  }));
}

/** Reason for a file's failure, in one sentence or more, with findings about its places. */
type FileFailure = { detail: string; findings: ImportFinding[] };

/** The failure that an error stands for. `faults`: what is wrong with the text of the file itself. */
export function toFailure(
  error: unknown,
  { locate, faults }: { locate: LocatePointer; faults: () => readonly FileFinding[] },
): FileFailure {
  if (!isTrackportError(error)) return toUnexpected(error);
  const detail = error.detail ?? error.code;
  const found = error.code === 'malformed-json' ? faults() : [];
  if (found.length > 0)
    return {
      detail,
      findings: found.map((fault) => ({ severity: 'error', code: error.code, ...fault })),
    };
  return { detail, findings: placeFindings(problemsOf(error), 'error', locate) };
}

/** The file system's own errors have a code; everything else is a mistake of ours, which one file met. */
function toUnexpected(error: unknown): FileFailure {
  const systemCode = systemCodeOf(error);
  const [code, detail] =
    systemCode === undefined
      ? ['internal-error', `Unexpected failure: ${String(errorFields(error)['error'])}.`]
      : ['unreadable', `The file cannot be read: ${systemCode}.`];
  return { detail, findings: [{ severity: 'error', code, detail }] };
}

function problemsOf({ errors = [], code, detail = code }: TrackportError): Said[] {
  return errors.length === 0 ? [{ code, detail }] : errors.map(withoutHeader);
}

/** Parameters and headers are parts of a request, not of the file. */
function withoutHeader({ pointer, code, detail }: FieldProblem): Said {
  return { pointer, code, detail };
}

/** Finds the place in the file of a pointer into the version; undefined where nobody knows it. */
export type LocatePointer = (pointer: string) => TextPlace | undefined;

/** Something that is wrong with the text of a file. */
type FileFinding = Partial<TextPlace> & { detail: string };

/** Finding places takes seconds and a gigabyte beyond. */
const LOCATED_BYTES_MAX = 16 * 1024 * 1024;

/** Fields of a version, and what they are made from in an OpenAPI or AsyncAPI document. */
const FIELDS_OF_DOCUMENT: ReadonlyMap<string, readonly string[]> = new Map([
  ['id', ['info', 'title']],
  ['title', ['info', 'title']],
  ['version', ['info', 'version']],
  ['description', ['info', 'description']],
]);

/** Places in one file; it is read when the first one is wanted, and only then. */
export function locateIn(file: ImportFile, form: ImportForm): LocatePointer {
  let find: FindPlace | undefined;
  let isRead = false;
  return (pointer) => {
    if (!isRead) find = readFile(file);
    isRead = true;
    return find?.(pathInFile(pointer, form));
  };
}

function readFile({ bytes }: ImportFile): FindPlace | undefined {
  if (bytes.byteLength > LOCATED_BYTES_MAX) return undefined;
  return readPlaces(new TextDecoder().decode(bytes));
}

function pathInFile(pointer: string, form: ImportForm): readonly string[] {
  const [first = '', ...rest] = pointer.replace(/^#/, '').split('/').slice(1).map(unescapeFragment);
  if (form === 'artifact') return [first, ...rest];
  if (first === 'spec') return rest;
  return FIELDS_OF_DOCUMENT.get(first) ?? ['info'];
}

/** Faults of the text of a file that is neither one YAML document nor one JSON text. */
export function faultsOf({ name, bytes }: ImportFile): FileFinding[] {
  if (bytes.byteLength > LOCATED_BYTES_MAX) return [];
  const text = new TextDecoder().decode(bytes);
  const broken = /\.json$/i.test(name) ? jsonFault(text) : undefined;
  if (broken) return [broken];
  const read = readYaml(text);
  if (!('faults' in read)) return [];
  return read.faults.map(({ line, column, message }) => ({ line, column, detail: message }));
}

/** The place where V8 stopped reading, if it names one; its words may quote the file. */
function jsonFault(text: string): FileFinding | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec((error as Error).message) ?? [];
    if (line === undefined) return undefined;
    return { line: Number(line), column: Number(column), detail: 'This is not one JSON text.' };
  }
}

/** Finds what stands at a path of names and indices; what is not there, at the nearest thing above it. */
type FindPlace = (path: readonly string[]) => TextPlace;

/**
 * Reads where everything stands in a text of YAML or JSON: a member of a map where its name begins, an
 * element of a list where it begins itself. It takes about 50 times the text's memory.
 */
export function readPlaces(text: string): FindPlace {
  const { document, lines } = parseYaml(text);
  return (path) => placeAt(lines, offsetAt(document, document.contents, path));
}

function offsetAt(document: Document, root: unknown, path: readonly string[]): number {
  let offset = startOf(root) ?? 0;
  let node = root;
  for (const step of path) {
    const child = childOf(document, node, step);
    if (child === undefined) break;
    offset = startOf(isPair(child) ? child.key : child) ?? offset;
    node = isPair(child) ? child.value : child;
  }
  return offset;
}

function childOf(document: Document, node: unknown, step: string): unknown {
  const holder = isAlias(node) ? node.resolve(document) : node;
  if (isSeq(holder)) return /^\d{1,9}$/.test(step) ? holder.items[Number(step)] : undefined;
  if (!isMap(holder)) return undefined;
  const { members, merged } = membersOf(holder);
  return members.get(step) ?? firstOf(merged, (source) => childOf(document, source, step));
}

/** Thousands of findings can be about members of one map. `merged`: the maps that `<<` names. */
const membersOf = memoize((map: YAMLMap) => {
  const named = map.items.filter(({ key }) => isScalar(key)) as Pair<Scalar>[];
  const merges = named.filter(({ key }) => typeof key.value === 'symbol');
  return {
    members: new Map(named.map((pair) => [String(pair.key.source ?? pair.key.value), pair])),
    merged: merges.flatMap(({ value }) => (isSeq(value) ? value.items : [value])),
  };
});

function firstOf<T>(list: readonly T[], find: (one: T) => unknown): unknown {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function startOf(node: unknown): number | undefined {
  return (node as { range?: [number] } | null | undefined)?.range?.[0];
}
