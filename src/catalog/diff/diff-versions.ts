import { refuse, TrackportError } from '#shared/errors.ts';
import type { VersionRecord } from '../version/artifact.ts';
import { compareVersions, highestOf, isReadable } from '../version/version-order.ts';
import type { Catalog, Reader } from '../index.ts';
import type { JobOwner } from '../spec/spec-jobs.ts';
import { readCandidatesOf, readRecord } from '../version/read-version.ts';
import { type Changes, differences, type Impact, orderChanges, toChange } from './changes.ts';

type DiffRequest = { id: string; from?: string; to?: string };

/** `breaking`: whether any change is known to break. Breaking changes come first. */
export type VersionDiff = Changes & { from: string; to: string; breaking: boolean };

/**
 * Compares two versions of an artifact: its own fields and its spec. `to` is by default
 * the default version, `from` the highest PUBLISHED or DEPRECATED one below it.
 * @throws {artifact-not-found} @throws {no-published-version}
 * @throws {validation-failed} where `from` is needed
 * @throws {diff-too-costly} @throws {quota-exceeded} @throws {overloaded}
 */
export async function diffVersions(
  catalog: Catalog,
  reader: JobOwner,
  { id, ...wanted }: DiffRequest,
): Promise<VersionDiff> {
  const to = wanted.to === undefined ? {} : { version: wanted.to };
  const latter = await readRecord(catalog.db, reader, { id, ...to, withSpec: true });
  const version = wanted.from ?? (await versionBelow(catalog, reader, latter.record));
  const former = await readRecord(catalog.db, reader, { id, version, withSpec: true });
  const pair = { before: former.specText, after: latter.specText };
  const specs = await catalog.diffSpecs(pair, reader);
  if (specs === 'too-costly') refuseCost();
  const own = fieldChanges(former.record, latter.record);
  const { changes, truncated } = orderChanges([...own, ...specs.changes]);
  return {
    from: former.record.version,
    to: latter.record.version,
    breaking: changes.some(({ impact }) => impact === 'breaking'),
    changes,
    truncated: truncated || specs.truncated,
  };
}

/** @throws {diff-too-costly} always */
function refuseCost(): never {
  throw new TrackportError('diff-too-costly', {
    detail: 'The specs of the two versions take too much time or memory to compare.',
  });
}

async function versionBelow(
  { db }: Catalog,
  { workspaceId }: Reader,
  record: VersionRecord,
): Promise<string> {
  const versions = await readCandidatesOf(db, workspaceId, record.id);
  const below = versions.filter((one) => isReadable(one) && compareVersions(one, record) < 0);
  const highest = highestOf(below, compareVersions);
  if (highest) return highest.version;
  return refuse([
    {
      parameter: 'from',
      code: 'required',
      detail: `Name the version to compare with: none below ${record.version} is PUBLISHED or DEPRECATED.`,
    },
  ]);
}

const DESCRIPTIVE: ReadonlySet<string> = new Set(['title', 'description', 'owner', 'groupPath']);

function fieldChanges(former: VersionRecord, latter: VersionRecord) {
  const found = [...differences(ownFields(former), ownFields(latter))];
  return found.map((difference) => toChange(difference, impactOf(difference.at[0])));
}

const impactOf = (field = ''): Impact => (DESCRIPTIVE.has(field) ? 'compatible' : 'unclassified');

function ownFields(record: VersionRecord): Record<string, unknown> {
  const { type, owner, title, description, source, projectId, groupPath, members, counts } = record;
  const fields = { type, owner, title, description, source, projectId, groupPath, members, counts };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
