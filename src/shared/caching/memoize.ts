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

/**
 * The same for two objects: `make` is called once for each pair. `context` is whatever else it
 * needs that the pair determines.
 */
export function memoizePair<First extends object, Second extends object, Value, Context = void>(
  make: (first: First, second: Second, context: Context) => Value,
): (first: First, second: Second, context: Context) => Value {
  const made = new WeakMap<First, WeakMap<Second, { value: Value }>>();
  return (first, second, context) => {
    let ofFirst = made.get(first);
    if (!ofFirst) made.set(first, (ofFirst = new WeakMap()));
    const known = ofFirst.get(second);
    if (known) return known.value;
    const value = make(first, second, context);
    ofFirst.set(second, { value });
    return value;
  };
}
