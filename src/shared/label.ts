/** How many labels a filter or a grant names at most. */
export const LABELS_MAX = 10;

/**
 * Characters of a label's name. GitHub makes none of more than 50; this only bounds what a caller can
 * send.
 */
export const LABEL_CHARACTERS_MAX = 200;

/** No comma, which separates names where a query names several; no control characters, no half surrogate pair. */
export const FORBIDDEN_IN_LABEL = /[,\p{Cc}\p{Cs}]/u;
