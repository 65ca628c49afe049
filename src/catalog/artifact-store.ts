import type { AuditEntry } from '#shared/audit.ts';
import type { KeyedCall } from '#shared/idempotency.ts';
import type { Lifecycle, Member, VersionRecord } from './version/artifact.ts';
import { type Candidate, orderOf } from './version/version-order.ts';

/** Which version: the default one when `version` is absent. The id is compared without case. */
export type VersionRef = { id: string; version?: string };

export type ReadVersion =
  | { kind: 'found'; record: VersionRecord; specText?: string }
  | { kind: 'no-artifact' }
  | { kind: 'no-version' }
  /** Only without `version`: nothing is PUBLISHED or DEPRECATED. `listed` stands for the artifact. */
  | { kind: 'no-default'; listed: VersionRecord };

/** What the response for a version says of other versions and artifacts. */
export type Relations = {
  /** Versions of the artifact. */
  versions: number;
  /** At most 1,000, in the owner's order or by id; absent for what can have none. */
  members?: Member[];
  /** How many members there are, by type; not bounded by 1,000. */
  membersByType: Record<string, number>;
  /** The artifact's default version, when it is PUBLISHED and another one. */
  successor?: string;
  /** The version is the default because it was set as such. */
  isSetDefault: boolean;
};

/** One version with what its response says of others, all of one moment. */
export type StoredVersion = { record: VersionRecord; specText?: string; relations: Relations };

/** A version to be made. Without `version` the store takes `nextVersion` of those that exist. */
export type NewVersion = Omit<
  VersionRecord,
  'workspaceId' | 'version' | 'serial' | 'revision' | 'lifecycle'
> & { version?: string; specText?: string };

/** The artifact is of `type`, and a version would have been of another one. */
export type OtherType = { kind: 'other-type'; type: string };

export type Inserted =
  | { kind: 'inserted'; stored: StoredVersion }
  | { kind: 'taken'; version: string; current: Lifecycle }
  | OtherType
  /** The artifact has 1,000 versions. */
  | { kind: 'full' }
  /** No version was named, and the next one would have more than 64 characters. */
  | { kind: 'nameless' };

export type VersionChange = {
  /** The version as it was read. */
  former: VersionRecord;
  /** The same version as it shall be, with the next `revision`. */
  next: VersionRecord;
  /** The spec as it shall be, `null` for none; absent leaves it alone. */
  specText?: string | null;
  /**
   * The version that this one was held against, to be published; none when its `serial` is undefined.
   * Where `baselineOf` is another one by now, nothing is done.
   */
  baseline?: { serial: number | undefined };
};

/** All that is given must hold; `groupPath` means itself and all below it, on segment boundaries. */
export type ListFilter = Partial<
  Pick<VersionRecord, 'type' | 'lifecycle' | 'owner' | 'source' | 'groupPath' | 'projectId'>
>;

export type ListQuery = ListFilter & {
  /** One row per artifact (its default version, else a draft, else a retired one), or every version. */
  rows: 'artifacts' | 'versions';
  /** From `searchTerms`: a version must have every one of them, the beginning of a word suffices. */
  terms?: string[];
  /** Position of the last row seen. */
  after?: number;
  limit: number;
};

export type ListedVersion = { record: VersionRecord; position: number };

/** Position of a version among an artifact's versions, highest first. */
export type VersionPosition = {
  key: string;
  publishedAt: number;
  createdAt: number;
  serial: number;
};

export type ListedAudit = { entry: AuditEntry; position: number };

/** What a change writes into the audit log. The store adds the version where it chose it itself. */
export type ChangeAudit = Omit<AuditEntry, 'subject'>;

/** What is part of the transaction of a change beside the change itself. */
export type Accompaniment = {
  audit: ChangeAudit;
  /** The call's idempotency key, under which `versionResponse` of the version as it is then is stored. */
  call?: KeyedCall;
};

/**
 * Stores artifacts. Every function is bound to one workspace, and what belongs to another does not
 * exist. A change, its audit entry, its search text, the choice of the default version and the
 * response that is stored for it are one transaction, so that reads see a change at once and a crash
 * leaves all of it or nothing. All throw `store-unavailable`, and changes with a `call` also
 * `idempotency-in-progress`.
 */
export type ArtifactStore = {
  /** Another number whenever anything in the store may have changed. @throws {store-unavailable} */
  dataVersion(): Promise<number>;
  /** One version; its spec only with `withSpec`. */
  read(workspaceId: string, ref: VersionRef, parts: { withSpec: boolean }): Promise<ReadVersion>;
  relations(workspaceId: string, record: VersionRecord): Promise<Relations>;
  /** Every version of an artifact, in no order; undefined when there is none. */
  candidates(workspaceId: string, id: string): Promise<Candidate[] | undefined>;
  /** Makes the artifact with its first version. The id keeps the spelling of that one. */
  insert(workspaceId: string, version: NewVersion, beside: Accompaniment): Promise<Inserted>;
  /**
   * Undefined, and nothing done, when the version is not any more as `former` says, or is held against
   * another `baseline`; nor is anything done where another version says that the artifact is of another type.
   */
  change(
    workspaceId: string,
    change: VersionChange,
    beside: Accompaniment,
  ): Promise<StoredVersion | OtherType | undefined>;
  /** Removes a version, and with its last one the artifact. False for what `change` is not done. */
  remove(workspaceId: string, record: VersionRecord, audit: ChangeAudit): Promise<boolean>;
  /** Makes it the version that a read without `version` returns. Undefined as for `change`. */
  setDefault(
    workspaceId: string,
    record: VersionRecord,
    beside: Accompaniment,
  ): Promise<StoredVersion | undefined>;
  /** Forgets that the version was set as default. False, and nothing done, when it is not set any more. */
  clearDefault(workspaceId: string, record: VersionRecord, audit: ChangeAudit): Promise<boolean>;
  /** Stores the response to a call that has nothing to change. Undefined as for `change`. */
  respond(
    workspaceId: string,
    record: VersionRecord,
    call: KeyedCall,
  ): Promise<StoredVersion | undefined>;
  /** Newest artifacts (or versions) first. */
  list(workspaceId: string, query: ListQuery): Promise<ListedVersion[]>;
  /** Highest version first. Undefined when there is no such artifact. */
  listVersions(
    workspaceId: string,
    query: { id: string; after?: VersionPosition; limit: number },
  ): Promise<VersionRecord[] | undefined>;
  /** Newest first. Undefined when there is no such artifact. */
  listAudit(
    workspaceId: string,
    query: { id: string; after?: number; limit: number },
  ): Promise<ListedAudit[] | undefined>;
};

/**
 * A version by the columns that every engine has for it, lists and objects as JSON. Its id and its serial
 * are the store's.
 */
export function toVersionColumns(record: Omit<VersionRecord, 'serial' | 'id'>) {
  return {
    workspaceId: record.workspaceId,
    version: record.version,
    orderKey: orderOf(record.version).key,
    revision: record.revision,
    lifecycle: record.lifecycle,
    type: record.type,
    source: record.source,
    owner: record.owner,
    title: record.title,
    projectId: record.projectId,
    groupPath: record.groupPath,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    publishedAt: record.publishedAt,
    deprecatedAt: record.deprecatedAt,
    sunsetAt: record.sunsetAt,
    members: record.members && JSON.stringify(record.members),
    counts: record.counts && JSON.stringify(record.counts),
    findings: record.findings.length === 0 ? undefined : JSON.stringify(record.findings),
    description: record.description,
  };
}
