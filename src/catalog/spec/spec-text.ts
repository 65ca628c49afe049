import { TrackportError } from '#shared/errors.ts';
import { isRecord, parseJsonText } from '#shared/text/json.ts';
import { SPEC_DEPTH_MAX, specJsonRules } from '../version/artifact.ts';
import { jsonOfYaml, refuseYaml } from './yaml-json.ts';

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
