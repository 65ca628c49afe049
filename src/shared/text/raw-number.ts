/** Of `JSON` what the compiler's library does not name yet. */
const raw = JSON as unknown as {
  rawJSON: (text: string) => object;
  isRawJSON: (value: object) => boolean;
};

/** A number that `JSON.stringify` writes digit by digit as `text` has it, though no double can hold it. */
export function rawNumber(text: string): object {
  return raw.rawJSON(text);
}

/** True for what `rawNumber` made, as `parseJsonText` does with `exactNumbers`. */
export function isRawNumber(value: object): boolean {
  return raw.isRawJSON(value);
}
