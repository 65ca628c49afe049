/** Specs as people write and read them: JSON or YAML. */
import { Document, type ScalarTag, visit } from 'yaml';
import { TrackportError } from '#shared/errors.ts';
import { isRawNumber, isRecord, parseJsonText, rawNumber } from '#shared/text/json.ts';
import { readYaml, renderYamlFault } from '#shared/text/yaml.ts';
import { SPEC_DEPTH_MAX, specJsonRules } from '../version/artifact.ts';

/** `readSpecText`, wherever it runs. */
export type ReadSpecText = (text: string, signal?: AbortSignal) => Promise<string>;

/**
 * A spec as a person writes it, JSON or YAML, as the compact JSON text that is stored; numbers digit
 * by digit as they came.
 * @throws {malformed-json} when it is neither, or no object
 * @throws {payload-too-large} for more than 500,000 values
 */
export function readSpecText(text: string): string {
  const isJson = text.trimStart().startsWith('{');
  const json = isJson ? Buffer.from(text) : jsonOfYaml(text, (why) => refuseYaml('The spec', why));
  const value = parseJsonText(json, { ...specJsonRules, depthMax: SPEC_DEPTH_MAX });
  if (isRecord(value)) return JSON.stringify(value);
  throw new TrackportError('malformed-json', {
    detail: 'A spec is an object: names with values, in JSON or YAML.',
  });
}

/** Values and characters that a document may have with its aliases written out. */
const VALUES_MAX = 1_000_000;
const CHARACTERS_MAX = 64 * 1024 * 1024;

/**
 * YAML 1.2 core as JSON text. Numbers keep every digit. `refuse` gets in words why a text is not one
 * document, and throws.
 */
export function jsonOfYaml(text: string, refuse: (reason: string) => never): Buffer {
  const read = readYaml(text, { exactNumbers: true });
  if ('faults' in read) return refuse(read.faults.map(renderYamlFault).join('; '));
  let [values, characters] = [0, 0];
  const writeValue = (key: string, value: unknown): unknown => {
    values += 1;
    characters += key.length + (typeof value === 'string' ? value.length : 0);
    if (values > VALUES_MAX || characters > CHARACTERS_MAX)
      return refuse('its aliases make too much of it');
    if (typeof value === 'bigint') return rawNumber(value.toString());
    if (typeof value === 'number' && !Number.isFinite(value))
      return refuse('JSON has no infinite numbers');
    return value;
  };
  try {
    return Buffer.from(JSON.stringify(read.value, writeValue) ?? 'null');
  } catch (error) {
    if (error instanceof RangeError) return refuse('its aliases nest too deep');
    throw error;
  }
}

/** @throws {malformed-json} always */
export function refuseYaml(what: string, reason: string): never {
  throw new TrackportError('malformed-json', {
    detail: `${what} is not one YAML document: ${reason}.`,
  });
}

/** Format of the text of a spec. */
export type SpecFormat = 'json' | 'yaml';

/** More is not sent. */
const YAML_CHARACTERS_MAX = 16 * 1024 * 1024;

/** A spec as it is stored as YAML, every digit of a number kept; undefined for more than 16 Mi characters. */
export function renderSpecYaml(specText: string): string | undefined {
  const rules = { ...specJsonRules, depthMax: SPEC_DEPTH_MAX };
  const yaml = writeYaml(parseJsonText(Buffer.from(specText), rules));
  return yaml.length > YAML_CHARACTERS_MAX ? undefined : yaml;
}

/** A value of `parseJsonText` as one YAML document that parsers of YAML 1.1 and 1.2 read alike. */
export function writeYaml(value: unknown): string {
  const document = new Document(value, {
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    customTags: (tags) => [exactNumber, ...tags],
  });
  visit(document, {
    Scalar: (_place, scalar) => {
      if (typeof scalar.value === 'string' && isOdd(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 }).replaceAll(UNREADABLE, escaped);
}

/** Signs that YAML 1.1 takes for the end of a line, and those that it has only as escapes: they stand in quotes. */
const UNREADABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Blanks at an end of a line, and what cannot be seen, get lost in a block or beside a colon; `=` is a tag for some. */
function isOdd(text: string): boolean {
  return text === '=' || /[^\P{C}\n]|[\u2028\u2029]|^\s|[^\S\n](?:\n|$)|\n\n$/u.test(text);
}

/** A number with an exponent and neither a point nor a sign in it is a text for YAML 1.1. */
const EXPONENT = /(\.\d+)?e([-+]?)(\d+)$/i;

/** Numbers that the library would write with other digits, or as a text for some parsers. */
const exactNumber: ScalarTag = {
  identify: (value) =>
    typeof value === 'object' && value !== null
      ? isRawNumber(value)
      : typeof value === 'number' && String(value).includes('e'),
  default: true,
  tag: 'tag:yaml.org,2002:float',
  test: /(?!)/, // it only writes
  resolve: Number,
  stringify: ({ value }) =>
    JSON.stringify(value).replace(
      EXPONENT,
      (_all, fraction = '.0', sign: string, digits: string) =>
        `${fraction}e${sign || '+'}${digits}`,
    ),
};
