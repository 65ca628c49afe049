import { foldId } from '#catalog/version/artifact.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import { listingKeys } from '#catalog/reading/listing-keys.ts';
import type { ArtifactStore, ListedLister, Lister } from '#catalog/artifact-store.ts';
import type { RowOf } from '#shared/store/row.ts';
import type { Connection } from '../connection/connection.ts';

type OwnRow = RowOf<Pick<VersionRecord, 'groupPath' | 'lifecycle'>> & { serial: number };
type ListerRow = Lister & { position: number };

/** A plus before a parameter: see `openConnection`. */
const OWN = `
  SELECT a.serial, v.groupPath, v.lifecycle
  FROM catalog_artifact a JOIN catalog_version v ON v.serial = a.faceSerial
  WHERE a.workspaceId = +? AND a.idFolded = +?`;

/** CROSS JOIN puts the listing outermost, whose rows come in the order of the page. */
const LISTERS = `
  SELECT a.id, v.version, v.type, v.title, v.owner, v.lifecycle, l.artifactSerial AS position
  FROM catalog_listing l
  CROSS JOIN catalog_artifact a ON a.serial = l.artifactSerial
  CROSS JOIN catalog_version v ON v.serial = l.versionSerial
  WHERE l.workspaceId = ? AND l.listed = ? AND l.artifactSerial < ? AND l.artifactSerial <> ?
  ORDER BY l.artifactSerial DESC LIMIT ?`;

/** Reads who lists an artifact; synchronous. */
export function createListersReader({ handle }: Connection) {
  const own = handle.prepare<[string, string], OwnRow>(OWN);
  const listers = handle.prepare<[string, string, number, number, number], ListerRow>(LISTERS);
  return (
    workspaceId: string,
    { id, after = Number.MAX_SAFE_INTEGER, limit }: Parameters<ArtifactStore['listers']>[1],
  ): ListedLister[] | undefined => {
    const found = own.get(workspaceId, foldId(id));
    if (!found) return undefined;
    const { serial, ...standing } = found;
    // Each key has its own order: the newest of all of them are among the newest of each.
    return listingKeys(id, standing)
      .flatMap((key) => listers.all(workspaceId, key, after, serial, limit))
      .toSorted((left, right) => right.position - left.position)
      .slice(0, limit)
      .map(({ position, ...lister }) => ({ lister, position }));
  };
}
