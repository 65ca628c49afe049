/**
 * Cuts the catalog's full text into terms. Done here and not by a store's own tokenizer, so that
 * accents, dots, slashes and hyphens mean the same on every store.
 */
import type { VersionRecord } from '../version/artifact.ts';

export const SEARCH_TERMS_MAX = 16;
/** The rest of a longer word makes no difference: stores index every beginning of a term. */
const TERM_CHARACTERS_MAX = 20;

/**
 * Lower case without accents; `ß` is written as `ss`, as a person without that key does. `ẞ` is its own
 * upper case, so all becomes lower case first. Marks go before the rest is taken apart as well: to put a
 * long run of them in order takes quadratic time.
 */
export function foldText(text: string): string {
  return text
    .replaceAll(/\p{M}+/gu, '')
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase();
}

/**
 * The terms of a text, in order: runs of letters and digits, folded.
 * `Zahlungs-API/v2.1` → `zahlungs`, `api`, `v2`, `1`.
 */
export function searchTerms(text: string): string[] {
  const terms = foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  return terms.map(cut);
}

/** True when a search by this text has a word to look for, and not too many. */
export function isSearchable(text: string): boolean {
  const terms = new Set(searchTerms(text));
  return terms.size > 0 && terms.size <= SEARCH_TERMS_MAX;
}

/** Counts code points, as stores do. */
function cut(term: string): string {
  if (term.length <= TERM_CHARACTERS_MAX) return term;
  return Array.from(term).slice(0, TERM_CHARACTERS_MAX).join('');
}

export type SearchedFields = Pick<
  VersionRecord,
  'id' | 'title' | 'description' | 'owner' | 'groupPath'
>;

/** The searched text of a version, as terms with one space between them. */
export function searchTextOf(version: SearchedFields): string {
  const { id, title, description = '', owner, groupPath = '' } = version;
  return [...new Set(searchTerms(`${id} ${title} ${owner} ${groupPath} ${description}`))].join(' ');
}
