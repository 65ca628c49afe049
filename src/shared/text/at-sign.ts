/** In full width or small, as an entity of HTML, in a URL, however often encoded, and in JSON. */
const AT_SIGN = /[@\uFF20\uFE6B]|&(?:amp;)*(?:#0*64|#x0*40|commat);?|%(?:25)*40|\\u0040/i;
const BETWEEN_SIGNS = new RegExp(`\\S(?:${AT_SIGN.source})\\S`, 'i');

/** True for a text that may be part of an e-mail address, however its sign is written. */
export function hasAtSign(text: string): boolean {
  return AT_SIGN.test(text);
}

/** True where, besides, something stands on either side of the sign. */
export function hasAddress(text: string): boolean {
  return BETWEEN_SIGNS.test(text);
}
