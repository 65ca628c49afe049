import { refuse } from '#shared/errors.ts';
import type { OtherType } from '../artifact-store.ts';

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
