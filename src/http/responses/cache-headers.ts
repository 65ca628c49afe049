/** Nobody may store the response: what operators and the holders of keys read concerns them alone. */
export const uncached = { 'cache-control': 'no-store' } as const;

/**
 * The response is stored for one credential at most, the one in the header `credential`, and is
 * revalidated at every use.
 */
export function revalidatedFor<Header extends string>(credential: Header) {
  return { 'cache-control': 'private, no-cache', vary: credential } as const;
}
