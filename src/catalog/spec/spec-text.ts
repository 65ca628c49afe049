import { TrackportError } from '#shared/errors.ts';
import { isRecord, parseJsonText, rawNumber } from '#shared/text/json.ts';
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
