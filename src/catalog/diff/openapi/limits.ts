const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const LOWER = [
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
  'uniqueItems',
];

export const LIMITS = [...UPPER, ...LOWER];

/** Grows with what a limit keeps out. */
export function tightness(word: string, value: unknown): number {
  if (typeof value === 'boolean') return value ? 1 : -Infinity;
  const limit = value === undefined ? NaN : Number(JSON.stringify(value));
  if (Number.isNaN(limit) || (word.startsWith('min') && word !== 'minimum' && limit === 0))
    return -Infinity;
  return UPPER.includes(word) ? -limit : limit;
}
