import { isRawNumber, parseJsonText } from '#shared/text/json.ts';
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

/**
 * Writes values of JSON as YAML that every parser reads alike, of YAML 1.1 and 1.2: what could be taken
 * for anything but a text is quoted. The writer of the package `yaml` (2.9.1 and 3.0.0-2, with `compat:
 * 'yaml-1.1'`, `lineWidth: 0` and `aliasDuplicateObjects: false`) cannot take its place:
 * - A first key that begins with a byte order mark, and a text such as `" \n"`, it reads as another one. With
 *   all texts quoted it does not, but nobody wants to read that; with `simpleKeys` it refuses long keys.
 * - It knows no bound, where one line of the value can become a hundred characters of indentation:
 *   1.2 MB at 60 levels become 60 MB of text, and take it most of the time that a thread has.
 * - It takes four to seven times the processor time, for it builds a tree of nodes first.
 */

/** More is not written. */
const CHARACTERS_MAX = 16 * 1024 * 1024;
/** The longest key that may stand before its colon as it is (YAML 1.2 §7.4). */
const KEY_CHARACTERS_MAX = 1024;
/** A longer text is quoted: going through one by an expression takes a stack that grows with it. */
const PLAIN_CHARACTERS_MAX = 1024;

/** Begins with a letter, `/`, `_` or `$`; a colon is followed by something. */
const PLAIN = /^[\p{L}/_$](?:[\p{L}\p{M}\p{N}_./$+\-,()'"!?;=&@ ]|:(?=[\p{L}\p{N}/]))*$/u;
/** What some parser of YAML 1.1 or 1.2 takes for a truth value, for nothing, or for a number. */
const WORD = /^(?:true|false|null|yes|no|on|off|y|n|e[-+]?\d+)$/i;
/** What follows the whole part of a number with an exponent. No text of JSON but a number's ends so. */
const EXPONENT = /(\.\d+)?e([-+]?)(\d+)$/i;
/** What lines that stand in a block begin and end with: no blank is lost there. */
const BEGINS_BLOCK = /^[^\s\p{C}]/u;
const ENDS_BLOCK = /[^\s\p{C}]\n?$/u;
/** What cannot be seen in a block, or is a break of a line for some parsers and none for others. */
const NO_BLOCK = /[^\n\t\P{C}]|[\u2028\u2029]/u;
/** What JSON leaves as it is in a text, and YAML does not print. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** A value of `parseJsonText` as one YAML document; undefined for more than 16 Mi characters. */
export function writeYaml(value: unknown): string | undefined {
  const parts: string[] = [];
  let length = 0;
  const isWhole = writeNode(value, {
    indent: '',
    write: (part) => {
      parts.push(part);
      length += part.length;
      return length <= CHARACTERS_MAX;
    },
  });
  return isWhole ? parts.join('') : undefined;
}

/** Where a node begins. What writes returns false once there is too much. */
type Place = { indent: string; write: (part: string) => boolean };

/** A node at the beginning of a line, or behind the `- ` or `? ` that it belongs to. */
function writeNode(value: unknown, { indent, write }: Place): boolean {
  if (!isFilled(value)) return write(`${scalarOf(value, indent)}\n`);
  const isList = Array.isArray(value);
  let lead = '';
  for (const [name, member] of Object.entries(value)) {
    const isWritten = isList
      ? write(`${lead}- `) && writeNode(member, { indent: `${indent}  `, write })
      : write(lead) && writeMember(name, member, { indent, write });
    if (!isWritten) return false;
    lead = indent;
  }
  return true;
}

function writeMember(name: string, value: unknown, { indent, write }: Place): boolean {
  const key = textOf(name);
  const below = `${indent}  `;
  if (!write(key.length > KEY_CHARACTERS_MAX ? `? ${key}\n${indent}:` : `${key}:`)) return false;
  return isFilled(value)
    ? write(`\n${below}`) && writeNode(value, { indent: below, write })
    : write(` ${scalarOf(value, below)}\n`);
}

function isFilled(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    !isRawNumber(value) &&
    Object.keys(value).length > 0
  );
}

/** Whatever has no members: empty lists and objects, too. */
function scalarOf(value: unknown, indent: string): string {
  if (typeof value !== 'string') return JSON.stringify(value).replace(EXPONENT, writeExponent);
  if (!isBlock(value)) return textOf(value);
  const chomping = value.endsWith('\n') ? '' : '-';
  const lines = value.trimEnd().replaceAll(/\n(?!\n)/g, `\n${indent}`);
  return `|${chomping}\n${indent}${lines}`;
}

/** A number with an exponent and neither a point nor a sign in it is a text for YAML 1.1. */
function writeExponent(_all: string, fraction = '.0', sign: string, digits: string): string {
  return `${fraction}e${sign || '+'}${digits}`;
}

function isBlock(text: string): boolean {
  const isCut = BEGINS_BLOCK.test(text) && ENDS_BLOCK.test(text);
  return isCut && text.trimEnd().includes('\n') && !NO_BLOCK.test(text);
}

function textOf(text: string): string {
  const isShort = text.length <= PLAIN_CHARACTERS_MAX;
  if (isShort && PLAIN.test(text) && !text.endsWith(' ') && !WORD.test(text)) return text;
  return JSON.stringify(text).replaceAll(
    UNPRINTABLE,
    (character) => String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}
