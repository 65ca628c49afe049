import { parseJsonText } from '#shared/text/json.ts';
import { writeYaml } from '#shared/text/write-yaml.ts';
import { SPEC_DEPTH_MAX, specJsonRules } from '../version/artifact.ts';

/** How the text of a spec is written. */
export type SpecFormat = 'json' | 'yaml';

/**
 * `renderSpecYaml`, wherever it runs.
 * @throws {overloaded} too many big ones wait
 */
export type RenderSpecYaml = (
  specText: string,
  signal?: AbortSignal,
) => Promise<string | undefined>;

/** A spec as it is stored as YAML, every digit of a number kept; undefined for more than 16 Mi characters. */
export function renderSpecYaml(specText: string): string | undefined {
  const rules = { ...specJsonRules, depthMax: SPEC_DEPTH_MAX };
  return writeYaml(parseJsonText(Buffer.from(specText), rules));
}
