import {
  type Candidate,
  chooseRepresentative,
  isReadable,
} from '#catalog/version/order/default-version.ts';
import type { Session } from '../session.ts';

/** A row of `catalog_artifact`. */
export type ArtifactRow = {
  serial: number;
  id: string;
  pinnedSerial: number | null;
  faceSerial: number | null;
  versions: number;
};

const SET_ARTIFACT = `
  UPDATE catalog_artifact SET face_serial = @chosen, versions = @versions, pinned_serial = @pinned
  WHERE serial = @artifact`;

const DELETE_ARTIFACT = 'DELETE FROM catalog_artifact WHERE serial = @artifact';

const SET_REPRESENTATIVE = `
  UPDATE catalog_version SET is_face = (serial = @chosen) WHERE serial IN (@chosen, @former)`;

/**
 * Chooses the version that stands for the artifact in lists and searches (the columns `face_serial`
 * and `is_face`), of those that it has now, and drops an artifact without versions. `pinned` is the
 * version that is set as default now, null when none is any more. Part of the transaction of the change.
 */
export async function refreshRepresentative(
  session: Session,
  artifact: ArtifactRow,
  { versions, pinned }: { versions: readonly Candidate[]; pinned?: number | null },
): Promise<void> {
  const wanted = pinned === undefined ? artifact.pinnedSerial : pinned;
  const held = versions.find((version) => version.serial === wanted && isReadable(version));
  const chosen = chooseRepresentative(versions, held?.serial);
  if (!chosen) {
    await session.run(DELETE_ARTIFACT, { artifact: artifact.serial });
    return;
  }
  const isMoved = chosen.serial !== artifact.faceSerial;
  // The first version was written as what it is.
  if (isMoved && artifact.faceSerial !== null)
    await session.run(SET_REPRESENTATIVE, { chosen: chosen.serial, former: artifact.faceSerial });
  const pinnedSerial = held?.serial ?? null;
  if (isMoved || versions.length !== artifact.versions || pinnedSerial !== artifact.pinnedSerial)
    await session.run(SET_ARTIFACT, {
      artifact: artifact.serial,
      chosen: chosen.serial,
      versions: versions.length,
      pinned: pinnedSerial,
    });
}
