import { isRecord } from '#shared/text/json.ts';
import { type FindPlace, readPlaces } from '#shared/text/yaml-places.ts';
import type { TextPlace } from '#shared/text/yaml-document.ts';
import { readYaml } from '#shared/text/yaml.ts';
import type { ImportFile, ImportForm } from './import-file.ts';

/** Where in the file something stands that a version says by a pointer; undefined where nobody knows. */
export type LocatePointer = (pointer: string) => TextPlace | undefined;

/** Something that is wrong with the text of a file. */
export type FileFinding = Partial<TextPlace> & { detail: string };

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
  const [first = '', ...rest] = partsOf(pointer);
  if (form === 'artifact') return [first, ...rest];
  if (first === 'spec') return rest;
  return FIELDS_OF_DOCUMENT.get(first) ?? ['info'];
}

/** The names of a JSON Pointer that stands as a URI fragment (RFC 6901 §6). */
function partsOf(pointer: string): string[] {
  const parts = pointer.replace(/^#/, '').split('/').slice(1);
  return parts.map((part) => decode(part).replaceAll('~1', '/').replaceAll('~0', '~'));
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What is wrong with the text of a file that is neither one YAML document nor one JSON text. */
export function faultsOf({ name, bytes }: ImportFile): FileFinding[] {
  if (bytes.byteLength > LOCATED_BYTES_MAX) return [];
  const text = new TextDecoder().decode(bytes);
  const broken = /\.json$/i.test(name) ? jsonFault(text) : undefined;
  if (broken) return [broken];
  const read = readYaml(text);
  if (!('faults' in read)) return [];
  return read.faults.map(({ line, column, message }) => ({ line, column, detail: message }));
}

/** Where V8 stopped reading: it says so, but neither for a wrong token nor for a text that ends too early. */
function jsonFault(text: string): FileFinding | undefined {
  const message = jsonError(text);
  if (message === undefined) return undefined;
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  if (line !== undefined)
    return { line: Number(line), column: Number(column), detail: 'This is not one JSON text.' };
  if (isWrongToken(message))
    return { ...placeOfLast(untilWrongToken(text)), detail: 'This is not one JSON text.' };
  const rows = text.split('\n');
  return { line: rows.length, column: 1, detail: 'The JSON ends before it is complete.' };
}

/** What V8 says is wrong with a text; undefined for JSON. */
function jsonError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return isRecord(error) && typeof error['message'] === 'string' ? error['message'] : '';
  }
}

function isWrongToken(message: string): boolean {
  return message.startsWith('Unexpected token');
}

/** The shortest beginning of a text that has its wrong token: shorter ones end before it. */
function untilWrongToken(text: string): string {
  let before = 0;
  let within = text.length;
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (isWrongToken(jsonError(text.slice(0, middle)) ?? '')) within = middle;
    else before = middle;
  }
  return text.slice(0, within);
}

function placeOfLast(text: string): TextPlace {
  const lineStart = text.lastIndexOf('\n', text.length - 2) + 1;
  return { line: text.slice(0, lineStart).split('\n').length, column: text.length - lineStart };
}
