/** Blanks and characters that no font shows, the blank of Braille among them. */
const UNSEEN = /^[\s\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/**
 * True for a text with a character that can be seen. A name, title or owner of nothing else can be
 * neither read nor clicked, and is taken for an empty one.
 */
export function isVisible(text: string): boolean {
  return !UNSEEN.test(text);
}
