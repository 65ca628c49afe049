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

/**
 * YAML 1.2 core as JSON text. Numbers keep every digit. `refuse` gets in words why a text is not one
 * document, and throws.
 */
export function jsonOfYaml(text: string, refuse: (reason: string) => never): Buffer {
  const read = readYaml(text, { exactNumbers: true });
  if ('faults' in read) return refuse(read.faults.map(renderYamlFault).join('; '));
  const writeNumber = (_key: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return rawNumber(value.toString());
    if (typeof value === 'number' && !Number.isFinite(value))
      return refuse('JSON has no infinite numbers');
    return value;
  };
  return Buffer.from(JSON.stringify(read.value, writeNumber) ?? 'null');
}

/** @throws {malformed-json} always */
export function refuseYaml(what: string, reason: string): never {
  throw new TrackportError('malformed-json', {
    detail: `${what} is not one YAML document: ${reason}.`,
  });
}
