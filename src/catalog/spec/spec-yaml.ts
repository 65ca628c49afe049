import { Document, type ScalarTag, visit } from 'yaml';
import { isRawNumber, parseJsonText } from '#shared/text/json.ts';
import { SPEC_DEPTH_MAX, specJsonRules } from '../version/artifact.ts';

/** Format of the text of a spec. */
export type SpecFormat = 'json' | 'yaml';

/**
 * `renderSpecYaml`, wherever it runs; undefined for what takes too much time or memory, too.
 * @throws {overloaded} too many big ones wait
 */
export type RenderSpecYaml = (
  specText: string,
  signal?: AbortSignal,
) => Promise<string | undefined>;

/** More is not sent. */
const CHARACTERS_MAX = 16 * 1024 * 1024;

/** A spec as it is stored as YAML, every digit of a number kept; undefined for more than 16 Mi characters. */
export function renderSpecYaml(specText: string): string | undefined {
  const rules = { ...specJsonRules, depthMax: SPEC_DEPTH_MAX };
  const yaml = writeYaml(parseJsonText(Buffer.from(specText), rules));
  return yaml.length > CHARACTERS_MAX ? undefined : yaml;
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
