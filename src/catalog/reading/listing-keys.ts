import { foldId } from '../version/artifact.ts';
import { isReadable } from '../version/order/default-version.ts';
import type { Lifecycle } from '../version/artifact.ts';

/**
 * What stands in `catalog_listing` for whoever lists an artifact: its folded id, and the group that its
 * default version is in with those above, each with a slash at its end. No id has a slash.
 */
export function listingKeys(
  id: string,
  { groupPath, lifecycle }: { groupPath: string | null; lifecycle: Lifecycle },
): string[] {
  const segments = groupPath !== null && isReadable({ lifecycle }) ? groupPath.split('/') : [];
  const groups = segments.map((_, at) => `${segments.slice(0, at + 1).join('/')}/`);
  return [foldId(id), ...groups];
}
