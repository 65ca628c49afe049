/** Fills in the first argument of a use case. `deps` is called at every call, for a reload may replace what it returns. */
export function bindTo<Deps>(deps: () => Deps) {
  return <Args extends unknown[], Result>(
    useCase: (deps: Deps, ...args: Args) => Result,
  ): ((...args: Args) => Result) => {
    return (...args) => useCase(deps(), ...args);
  };
}
