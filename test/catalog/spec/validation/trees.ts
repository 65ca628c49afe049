import fc from 'fast-check';

/** Objects and lists of any depth: members with these names, and at the ends JSON or one of these texts. */
export function treesOf(names: readonly string[], ends: readonly string[]): fc.Arbitrary<unknown> {
  const end = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(...ends));
  return fc.letrec((tie) => ({
    node: fc.oneof(
      end,
      fc.dictionary(fc.constantFrom(...names), tie('node'), { maxKeys: 3 }),
      fc.array(tie('node'), { maxLength: 3 }),
    ),
  })).node;
}
