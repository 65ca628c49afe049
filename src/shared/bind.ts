/** Gives use cases what they work on, which `deps` returns anew for each call: what remains are a caller's arguments. */
export function bindTo<Deps>(deps: () => Deps) {
  return <Args extends unknown[], Result>(
    useCase: (deps: Deps, ...args: Args) => Result,
  ): ((...args: Args) => Result) => {
    return (...args) => useCase(deps(), ...args);
  };
}
