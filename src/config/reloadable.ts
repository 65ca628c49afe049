/** A value that can be replaced while the service runs, with all that is made from it. */
export type Reloadable<T> = {
  /** The value in force. Whoever works on something reads it once, and finishes with that. */
  current(): T;
  /**
   * Something made from the value, made anew with each replacement; `former` is what it was. The
   * function that comes back returns the one that goes with `current()`.
   */
  derive<D>(make: (value: T, former?: D) => D): () => D;
  /** Replaces the value and all that was made from it, or nothing. @throws what a `make` throws */
  replace(next: T): void;
};

export function createReloadable<T>(first: T): Reloadable<T> {
  let value = first;
  const derivations: ((next: T) => () => void)[] = [];
  return {
    current: () => value,
    derive: <D>(make: (value: T, former?: D) => D) => {
      let derived = make(value);
      derivations.push((next) => {
        const made = make(next, derived);
        return () => {
          derived = made;
        };
      });
      return () => derived;
    },
    replace: (next) => {
      // Everything is made before the first part is put in its place.
      const commits = derivations.map((prepare) => prepare(next));
      value = next;
      for (const commit of commits) commit();
    },
  };
}
