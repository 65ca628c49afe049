/**
 * The one contract of identity: **the same object means the same content.** Whoever hands out an
 * object that others remember something by (a parsed query, a visibility, a cached page, a rendered
 * value) never changes it, and hands out another one when anything in it is different. What was
 * remembered goes with the object, so that nothing has to be thrown away by hand.
 */

/** `make`, called once for each object as long as that object lives. What it throws is not remembered. */
export function memoize<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, { value: Value }>();
  return (key) => {
    const known = made.get(key);
    if (known) return known.value;
    const value = make(key);
    made.set(key, { value });
    return value;
  };
}

/** The same for two objects: `make` is called once for each pair. */
export function memoizePair<First extends object, Second extends object, Value>(
  make: (first: First, second: Second) => Value,
): (first: First, second: Second) => Value {
  const ofFirst = memoize((first: First) => memoize((second: Second) => make(first, second)));
  return (first, second) => ofFirst(first)(second);
}
