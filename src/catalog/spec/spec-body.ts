import { TrackportError } from '#shared/errors.ts';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { isRecord, parseJsonText } from '#shared/text/json.ts';
import { specJsonRules } from '../version/artifact.ts';

/** Members and elements of a body beside its spec: many times what the fields can have. */
const OTHER_VALUES_MAX = 10_000;

/** A spec as the one text that is stored and sent: it is never a value beside its own parsing. */
export type SpecText = {
  /** Compact JSON, numbers digit by digit as they came. */
  text: string;
  /** SHA-256 of it, in hexadecimal digits. */
  digest: string;
};

export type SpecBody = {
  /** The body, with an empty object in the place of its spec. */
  value: unknown;
  /** Absent without a spec, and for one that is no object: that stays in `value`. */
  spec?: SpecText;
};

/** `readSpecBody`, wherever it runs. */
export type ReadSpecBody = (bytes: Buffer, signal?: AbortSignal) => SpecBody | Promise<SpecBody>;

/**
 * Reads a body that may hold a spec. What it returns costs little to copy and to check.
 * @throws {malformed-json}
 * @throws {payload-too-large} for more than 500,000 values, or 10,000 beside those of the spec
 */
export function readSpecBody(bytes: Uint8Array): SpecBody {
  const value = parseJsonText(bytes, specJsonRules);
  if (!isRecord(value) || !isRecord(value['spec'])) return { value: bounded(value) };
  const text = JSON.stringify(value['spec']);
  return {
    value: bounded({ ...value, spec: {} }),
    spec: { text, digest: sha256Hex(text) },
  };
}

function bounded(value: unknown): unknown {
  if (countValues(value) <= OTHER_VALUES_MAX) return value;
  throw new TrackportError('payload-too-large', {
    detail: `Beside its \`spec\` the JSON has more than ${OTHER_VALUES_MAX} members and elements.`,
  });
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const below: unknown[] = Object.values(value);
  return below.reduce<number>((count, one) => count + countValues(one), 1);
}
