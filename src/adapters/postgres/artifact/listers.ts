import { foldId } from '#catalog/version/artifact.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import { listingKeys } from '#catalog/reading/listing-keys.ts';
import type { ArtifactStore, Lister } from '#catalog/artifact-store.ts';
import type { RowOf } from '#shared/store/row.ts';
import type { Session } from '../connection/database.ts';

type OwnRow = RowOf<Pick<VersionRecord, 'groupPath' | 'lifecycle'>> & { serial: number };

const OWN = `
  SELECT a.serial, v.group_path, v.lifecycle
  FROM catalog_artifact a JOIN catalog_version v ON v.serial = a.face_serial
  WHERE a.workspace_id = @workspaceId AND a.id_folded = @idFolded`;

/** Each key has its own order: the newest of all of them are among the newest of each. */
const LISTERS = `
  SELECT a.id, v.version, v.type, v.title, v.owner, v.lifecycle, found.position
  FROM (
      SELECT newest.* FROM unnest(@keys::text[]) AS key (listed) CROSS JOIN LATERAL (
        SELECT l.artifact_serial AS position, l.version_serial FROM catalog_listing l
        WHERE l.workspace_id = @workspaceId AND l.listed = key.listed
          AND l.artifact_serial < @after AND l.artifact_serial <> @self
        ORDER BY l.artifact_serial DESC LIMIT @limit
      ) AS newest
      ORDER BY position DESC LIMIT @limit
    ) AS found
    JOIN catalog_artifact a ON a.serial = found.position
    JOIN catalog_version v ON v.serial = found.version_serial
  ORDER BY found.position DESC`;

/** Reads who lists an artifact. */
export function createListersReader(session: Session): ArtifactStore['listers'] {
  return async (workspaceId, { id, after = Number.MAX_SAFE_INTEGER, limit }) => {
    const own = await session.get<OwnRow>(OWN, { workspaceId, idFolded: foldId(id) });
    if (!own) return undefined;
    const keys = listingKeys(id, own);
    const values = { workspaceId, keys, after, self: own.serial, limit };
    const rows = await session.all<Lister & { position: number }>(LISTERS, values);
    return rows.map(({ position, ...lister }) => ({ lister, position }));
  };
}
