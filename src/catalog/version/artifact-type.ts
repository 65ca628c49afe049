import { refuse } from '#shared/errors.ts';
import type { Candidate } from './default-version.ts';

/** The artifact is of `type`, and a version would have been of another one. */
export type OtherType = { kind: 'other-type'; type: string };

/**
 * An artifact has one type, that of its first version: says which, when `version` is of another one.
 * Undefined when it fits. `versions` are all of the artifact; a version to be made has no `serial`.
 */
export function otherType(
  versions: readonly Pick<Candidate, 'serial' | 'type'>[],
  version: { serial?: number; type: string },
): OtherType | undefined {
  const [first] = versions
    .filter(({ serial }) => serial !== version.serial)
    .toSorted((left, right) => left.serial - right.serial);
  return first === undefined || first.type === version.type
    ? undefined
    : { kind: 'other-type', type: first.type };
}

/** @throws {validation-failed} always */
export function refuseOtherType({ type }: OtherType): never {
  return refuse([
    {
      pointer: '#/type',
      code: 'mismatch',
      detail: `The artifact is of the type ${type}, that of its first version. Send "${type}", or choose another id.`,
    },
  ]);
}
