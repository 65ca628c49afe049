import { type Candidate, chooseListed, isReadable } from '#catalog/version/version-order.ts';
import type { Tx } from '#shared/database.ts';

/** A row of `catalog_artifact`. */
export type ArtifactRow = {
  serial: number;
  id: string;
  defaultSerial?: number;
  listedSerial?: number;
  versions: number;
};

const SET_ARTIFACT = `
  UPDATE catalog_artifact SET listed_serial = @chosen, versions = @versions, default_serial = @defaultSerial
  WHERE serial = @artifact`;

const DELETE_ARTIFACT = 'DELETE FROM catalog_artifact WHERE serial = @artifact';

const SET_LISTED = `
  UPDATE catalog_version SET is_listed = (serial = @chosen) WHERE serial IN (@chosen, @former)`;

/**
 * Chooses the version that stands for the artifact in lists and searches (the columns `listed_serial`
 * and `is_listed`), of those that it has now, and drops an artifact without versions. `wanted` is the
 * version that is set as default now, null when none is any more. Part of the transaction of the change.
 */
export async function refreshListed(
  session: Tx,
  artifact: ArtifactRow,
  versions: readonly Candidate[],
  wanted: number | null | undefined = artifact.defaultSerial,
): Promise<void> {
  const setVersion = versions.find((version) => version.serial === wanted && isReadable(version));
  const chosen = chooseListed(versions, setVersion?.serial);
  if (!chosen) {
    await session.run(DELETE_ARTIFACT, { artifact: artifact.serial });
    return;
  }
  const isMoved = chosen.serial !== artifact.listedSerial;
  // The first version was written as what it is.
  if (isMoved && artifact.listedSerial !== undefined)
    await session.run(SET_LISTED, { chosen: chosen.serial, former: artifact.listedSerial });
  const defaultSerial = setVersion?.serial;
  if (isMoved || versions.length !== artifact.versions || defaultSerial !== artifact.defaultSerial)
    await session.run(SET_ARTIFACT, {
      artifact: artifact.serial,
      chosen: chosen.serial,
      versions: versions.length,
      defaultSerial,
    });
}
