import type { Accompaniment, ArtifactStore } from '#catalog/artifact-store.ts';
import type { Database } from '../connection/database.ts';
import { refuseContention } from '../connection/errors.ts';
import { createSharedLock } from '../../store/shared-lock.ts';
import { artifactWrites } from './write-family.ts';
import type { Beside, Unrendered } from './write-family.ts';

/** How often a response is rendered anew because another process has just changed what it shows. */
const RENDERINGS_MAX = 5;

/**
 * What writes of `ArtifactStore`. Where a response is stored for an idempotency key, the change is
 * tried first to see what there will be to show; then it is made for good, with the response to it,
 * unless something else would have to be shown by now.
 */
export function createRenderedWrites({
  writer,
}: Pick<Database, 'writer'>): Pick<
  ArtifactStore,
  'insert' | 'change' | 'remove' | 'pin' | 'unpin'
> {
  const write = writer.open(artifactWrites, undefined);
  const lock = createSharedLock();
  const rendered = <T extends object | undefined>(
    accompaniment: Accompaniment,
    attempt: (beside: Beside) => Promise<T | Unrendered>,
  ): Promise<T> => {
    const run = (): Promise<T> => untilRendered(accompaniment, attempt);
    return accompaniment.toStoredRun ? lock.exclusive(run) : lock.shared(run);
  };
  return {
    insert: (workspaceId, version, beside) =>
      rendered(beside, (plain) => write('insert', workspaceId, version, plain)),
    change: (workspaceId, change, beside) =>
      rendered(beside, (plain) => write('change', workspaceId, change, plain)),
    pin: (workspaceId, record, beside) =>
      rendered(beside, (plain) => write('pin', workspaceId, record, plain)),
    remove: (...input) => lock.shared(() => write('remove', ...input)),
    unpin: (...input) => lock.shared(() => write('unpin', ...input)),
  };
}

async function untilRendered<T extends object | undefined>(
  { audit, toStoredRun }: Accompaniment,
  attempt: (beside: Beside) => Promise<T | Unrendered>,
): Promise<T> {
  let response: Beside['response'] = toStoredRun ? 'wanted' : 'none';
  for (let renderings = 0; renderings <= RENDERINGS_MAX; renderings += 1) {
    const result = await attempt({ audit, response });
    if (!isUnrendered(result) || !toStoredRun) return result as T;
    response = { of: result.stored, run: toStoredRun(result.stored) };
  }
  return refuseContention();
}

function isUnrendered(result: object | undefined): result is Unrendered {
  return result !== undefined && 'kind' in result && result.kind === 'unrendered';
}
