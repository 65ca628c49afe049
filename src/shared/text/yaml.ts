import { type Document, visit } from 'yaml';
import { rawNumber } from './raw-number.ts';
import { parseYaml, placeOf } from './yaml-document.ts';
import { faultsIn, withoutSource, type YamlFault } from './yaml-faults.ts';

export type YamlOptions = {
  /** `<<` takes over the keys of another map. Default false. */
  merge?: boolean;
  /**
   * Numbers keep every digit: whole ones come as `bigint`, others that a double writes otherwise as
   * `rawNumber`. Default false.
   */
  exactNumbers?: boolean;
};

/**
 * One document of YAML 1.2 (core) as plain values, or all that is wrong with it: one fault a line, without
 * a word of the text. What nests deeper than 65 levels is read no further.
 */
export function readYaml(
  text: string,
  { merge = false, exactNumbers = false }: YamlOptions = {},
): { value: unknown } | { faults: YamlFault[] } {
  const parsed = parseYaml(text, { merge, intAsBigInt: exactNumbers });
  const faults = faultsIn(parsed);
  if (faults.length > 0) return { faults };
  const { document, lines } = parsed;
  if (exactNumbers) keepWrittenNumbers(document);
  try {
    return { value: document.toJS({ maxAliasCount: -1 }) };
  } catch (error) {
    return { faults: [{ ...placeOf(lines, 0), message: withoutSource((error as Error).message) }] };
  }
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Values only: the name of a member is text whatever it looks like. */
function keepWrittenNumbers(document: Document): void {
  visit(document, {
    Scalar: (place, scalar) => {
      const { value, source = '' } = scalar;
      if (place === 'key' || typeof value !== 'number' || String(value) === source) return;
      if (JSON_NUMBER.test(source)) scalar.value = rawNumber(source);
    },
  });
}

/** `line 3, column 1: Tabs are not allowed as indentation`. */
export function renderYamlFault({ line, column, message }: YamlFault): string {
  return `line ${line}, column ${column}: ${message}`;
}
