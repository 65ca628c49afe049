/** Blanks, the blank of Braille among them, characters that no font shows, and accents, which alone take no room. */
const UNSEEN = /^[\s\p{Z}\p{Cf}\p{Mn}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Zero-width signs and joiners, marks of direction, byte order marks, soft hyphens, controls. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?!\s)\p{Cc}/gu;

export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '');
}

/**
 * True for a text with a character that can be seen. A name, title or owner of nothing else can be
 * neither read nor clicked, and is taken for an empty one.
 */
export function isVisible(text: string): boolean {
  return !UNSEEN.test(text);
}

/**
 * True for a text of more than `max` characters, counted as JSON Schema's `maxLength` counts: by code
 * points, so that an emoji is one. The time is bounded by `max`, not by the text.
 */
export function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  // A code point takes two units at most.
  return text.length > 2 * max || Array.from(text).length > max;
}

/**
 * True when a text has neither control characters nor half a surrogate pair. The latter cannot be
 * stored: no UTF-8 has it, and two texts that differ in it alone would become one.
 */
export function isPlainLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}
