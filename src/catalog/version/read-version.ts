/** Reads a version, and what its response says of others. What belongs to another workspace does not exist. */
import type { Statements } from '#shared/database.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import {
  type Finding,
  foldId,
  type Lifecycle,
  type ListedVersion,
  type VersionRecord,
  type VersionRef,
} from './artifact.ts';
import { type Candidate, isReadable } from './version-order.ts';

/** A row of `catalog_version` with its artifact's id. */
type VersionRow = ListedVersion &
  Partial<Record<Exclude<keyof VersionRecord, keyof ListedVersion>, string>>;

type Counts = VersionRecord['counts'];

/** The columns of a `ListedVersion`, of `catalog_version v` and `catalog_artifact a`. */
export const LISTED_COLUMNS = `
  v.serial, v.workspace_id, a.id, v.version, v.revision, v.lifecycle, v.type, v.source, v.owner,
  v.title, v.project_id, v.group_path, v.created_at, v.updated_at, v.published_at,
  v.deprecated_at, v.sunset_at, v.description`;

/** With what is stored as JSON. */
const VERSION_COLUMNS = `${LISTED_COLUMNS}, v.members, v.counts, v.findings`;

/** Versions with their artifacts. */
export const VERSIONS = 'catalog_version v JOIN catalog_artifact a ON a.serial = v.artifact_serial';

/** Of `catalog_artifact a`. The plus keeps the plan on SQLite: see `openConnection` in `adapters/sqlite/connection.ts`. */
export const OF_ARTIFACT =
  'a.workspace_id = /*sqlite +*/@workspaceId AND a.id_folded = /*sqlite +*/@idFolded';

/** A range of `group_key`: the group itself and all below it, `0` being the character after `/`. */
export const IN_GROUP = `
  v.group_path IS NOT NULL AND v.group_key >= @groupPath || '/' AND v.group_key < @groupPath || '0'`;

/** Field by field: of a row that is spread, a read takes a third longer. */
function toRecord(row: VersionRow): VersionRecord {
  return {
    workspaceId: row.workspaceId,
    id: row.id,
    version: row.version,
    lifecycle: row.lifecycle,
    type: row.type,
    owner: row.owner,
    title: row.title,
    source: row.source,
    findings: JSON.parse(row.findings ?? '[]') as Finding[],
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    serial: row.serial,
    revision: row.revision,
    description: row.description,
    projectId: row.projectId,
    groupPath: row.groupPath,
    publishedAt: row.publishedAt,
    deprecatedAt: row.deprecatedAt,
    sunsetAt: row.sunsetAt,
    members: row.members === undefined ? undefined : (JSON.parse(row.members) as string[]),
    counts: row.counts === undefined ? undefined : (JSON.parse(row.counts) as Counts),
  };
}

/** Name of an artifact in the audit log. An id has no slash, so that it is unambiguous. */
export function auditSubject(workspaceId: string, id: string): string {
  return `artifact/${workspaceId}/${foldId(id)}`;
}

const ARTIFACT = `SELECT a.serial FROM catalog_artifact a WHERE ${OF_ARTIFACT}`;

/** Returns the serial of an artifact; undefined when there is none. */
export async function findArtifact(
  db: Statements,
  workspaceId: string,
  id: string,
): Promise<number | undefined> {
  const values = { workspaceId, idFolded: foldId(id) };
  return (await db.get<{ serial: number }>(ARTIFACT, values))?.serial;
}

const CANDIDATES = `
  SELECT serial, version, type, lifecycle, published_at, created_at FROM catalog_version
  WHERE artifact_serial = @artifact`;

/** Every version of an artifact, as far as the choice among them needs it; in no order. */
export function readCandidates(db: Statements, artifact: number): Promise<Candidate[]> {
  return db.all<Candidate>(CANDIDATES, { artifact });
}

/** The same of an artifact by its id; none of one that does not exist. */
export async function readCandidatesOf(
  db: Statements,
  workspaceId: string,
  id: string,
): Promise<Candidate[]> {
  const artifact = await findArtifact(db, workspaceId, id);
  return artifact === undefined ? [] : readCandidates(db, artifact);
}

type ReadVersion =
  | { kind: 'found'; record: VersionRecord; specText?: string }
  | { kind: 'no-artifact' }
  | { kind: 'no-version' }
  /** Only without `version`: nothing is PUBLISHED or DEPRECATED. `listed` stands for the artifact. */
  | { kind: 'no-default'; listed: VersionRecord };

type FoundRow = VersionRow & { specText?: string };

const SPEC = 'LEFT JOIN catalog_spec s ON s.version_serial = v.serial';

const readDefault = (specText: string, join: string): string => `
  SELECT ${VERSION_COLUMNS}, ${specText} AS spec_text
  FROM catalog_artifact a JOIN catalog_version v ON v.serial = a.listed_serial ${join}
  WHERE ${OF_ARTIFACT}`;

const readNamed = (specText: string, join: string): string => `
  SELECT ${VERSION_COLUMNS}, ${specText} AS spec_text
  FROM catalog_artifact a JOIN catalog_version v ON v.artifact_serial = a.serial ${join}
  WHERE ${OF_ARTIFACT} AND v.version = /*sqlite +*/@version`;

const READ = {
  default: { spec: readDefault('s.text', SPEC), bare: readDefault('NULL', '') },
  named: { spec: readNamed('s.text', SPEC), bare: readNamed('NULL', '') },
};

/** Reads one version; its spec only with `withSpec`. */
export async function readVersion(
  db: Statements,
  workspaceId: string,
  { id, version, withSpec }: VersionRef & { withSpec: boolean },
): Promise<ReadVersion> {
  const statement = READ[version === undefined ? 'default' : 'named'][withSpec ? 'spec' : 'bare'];
  const row = await db.get<FoundRow>(statement, { workspaceId, idFolded: foldId(id), version });
  if (!row) {
    const isKnown = (await findArtifact(db, workspaceId, id)) !== undefined;
    return { kind: isKnown ? 'no-version' : 'no-artifact' };
  }
  const record = toRecord(row);
  if (version === undefined && !isReadable(record)) return { kind: 'no-default', listed: record };
  return { kind: 'found', record, specText: row.specText };
}

export type VersionQuery = VersionRef & { withSpec: boolean };

/**
 * Reads one version.
 * @throws {artifact-not-found} also for a version that does not exist
 * @throws {no-published-version} without `version`, when there is no default one
 */
export async function readRecord(
  db: Statements,
  { workspaceId }: { workspaceId: string },
  query: VersionQuery,
): Promise<{ record: VersionRecord; specText: string | undefined }> {
  const found = await readVersion(db, workspaceId, query);
  if (found.kind === 'found') return { record: found.record, specText: found.specText };
  return found.kind === 'no-default'
    ? refuseWithoutDefault(found.listed)
    : refuseUnknown(found.kind);
}

/**
 * Returns the version that is meant where the request names none: the only one of the artifact in a state.
 * @throws {validation-failed} when there is none or more than one
 */
export async function onlyVersionIn(
  db: Statements,
  { serial }: { serial: number },
  lifecycle: Lifecycle,
): Promise<string> {
  const candidates = await readCandidates(db, serial);
  const [only, ...others] = candidates.filter((candidate) => candidate.lifecycle === lifecycle);
  if (only && others.length === 0) return only.version;
  return refuse([
    {
      parameter: 'version',
      code: 'required',
      detail: `Name the version: ${only ? 'more than one' : 'none'} of them is ${lifecycle}.`,
    },
  ]);
}

const UNKNOWN = {
  'no-artifact': 'There is no artifact with this id in your workspace.',
  'no-version': 'The artifact is there, but has no such version. See its `/versions`.',
} as const;

/** Another workspace's artifact is `no-artifact`, too. @throws {artifact-not-found} always */
export function refuseUnknown(kind: keyof typeof UNKNOWN): never {
  throw new TrackportError('artifact-not-found', { detail: UNKNOWN[kind] });
}

/** @throws {no-published-version} always */
function refuseWithoutDefault({ lifecycle }: VersionRecord): never {
  throw new TrackportError('no-published-version', {
    detail: 'No version of the artifact is PUBLISHED or DEPRECATED. Name one with `version`.',
    extensions: { current: lifecycle },
  });
}
