/**
 * The order of versions: semantic version where it parses, then `publishedAt`, then `createdAt`.
 * SemVer 2 is read tolerantly: a leading `v`, a missing minor or patch and leading zeros are
 * accepted, and numbers may have any length. The parsed parts are stored as one text per version
 * whose plain byte order is the order of versions, so that every store sorts alike.
 */
import { type Lifecycle, VERSION_CHARACTERS_MAX, type VersionRecord } from './artifact.ts';

type VersionOrder = {
  /** Larger is higher: a text that is no semantic version, a pre-release, a release. */
  rank: 0 | 1 | 2;
  /** Compares byte by byte (SQLite `BINARY`, PostgreSQL `COLLATE "C"`). ASCII only. */
  key: string;
};

/** The fields that decide which of two versions of one artifact is higher. */
export type Orderable = Pick<VersionRecord, 'version' | 'publishedAt' | 'createdAt' | 'serial'>;

const SEMVER = /^[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** The sortable form of a version. Total: every text of a version's alphabet has one. */
export function orderOf(version: string): VersionOrder {
  const parts = SEMVER.exec(version);
  if (!parts) return { rank: 0, key: '0' };
  const [, major = '0', minor = '0', patch = '0', preRelease] = parts;
  const core = `1${numberKey(major)}${numberKey(minor)}${numberKey(patch)}`;
  if (preRelease === undefined) return { rank: 2, key: `${core}~` };
  return { rank: 1, key: core + preRelease.split('.').map(identifierKey).join('') };
}

/** The major number of a semantic version, without leading zeros; undefined for what is none. */
export function majorOf(version: string): string | undefined {
  return SEMVER.exec(version)?.[1]?.replace(/^0+(?=\d)/, '');
}

/** Digits after their count, so that longer numbers are greater: `9` → `019`, `10` → `0210`. */
function numberKey(digits: string): string {
  const significant = digits.replace(/^0+(?=\d)/, '');
  return significant.length.toString().padStart(2, '0') + significant;
}

/** `!` ends an identifier: it sorts below every character that one can have. */
function identifierKey(identifier: string): string {
  return /^\d+$/.test(identifier) ? `1${numberKey(identifier)}!` : `2${identifier}!`;
}

/** Negative when `left` is the lower version. Zero only for the same version. */
export function compareVersions(left: Orderable, right: Orderable): number {
  return (
    compareTexts(orderOf(left.version).key, orderOf(right.version).key) ||
    (left.publishedAt ?? 0) - (right.publishedAt ?? 0) ||
    left.createdAt - right.createdAt ||
    left.serial - right.serial
  );
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** The highest of them in one pass; undefined of none. */
export function highestOf<T>(
  versions: readonly T[],
  compare: (left: T, right: T) => number,
): T | undefined {
  let highest = versions[0];
  for (const version of versions)
    if (highest === undefined || compare(version, highest) > 0) highest = version;
  return highest;
}

/**
 * The version of a draft that names none: `1.0.0`, then the highest version's next minor.
 * Undefined when that would have more than 64 characters.
 */
export function nextVersion(existing: readonly Orderable[]): string | undefined {
  const highest = highestOf(existing, compareVersions);
  const parts = highest && SEMVER.exec(highest.version);
  if (!parts) return '1.0.0';
  const [, major = '0', minor = '0'] = parts;
  const next = `${BigInt(major)}.${BigInt(minor) + 1n}.0`;
  return next.length <= VERSION_CHARACTERS_MAX ? next : undefined;
}

/** A version, as far as what its artifact is depends on it. */
export type Candidate = Orderable & { lifecycle: Lifecycle; type: string };

/**
 * The version that a read without `version` returns: the one that was set, while it is PUBLISHED
 * or DEPRECATED; else the highest PUBLISHED (releases, then pre-releases, then versions that are
 * no semantic ones); else the highest DEPRECATED.
 */
function chooseDefault<T extends Candidate>(
  versions: readonly T[],
  defaultSerial: number | undefined,
): T | undefined {
  const byOwner = versions.find(({ serial }) => serial === defaultSerial);
  if (byOwner && isReadable(byOwner)) return byOwner;
  return highestIn(versions, 'PUBLISHED') ?? highestIn(versions, 'DEPRECATED');
}

/** The version that stands for an artifact in lists: its default, else a draft, else a retired one. */
export function chooseListed<T extends Candidate>(
  versions: readonly T[],
  defaultSerial: number | undefined,
): T | undefined {
  return (
    chooseDefault(versions, defaultSerial) ??
    highestIn(versions, 'DRAFT') ??
    highestIn(versions, 'RETIRED')
  );
}

/** True for a version that may be an artifact's default. */
export function isReadable({ lifecycle }: { lifecycle: Lifecycle }): boolean {
  return lifecycle === 'PUBLISHED' || lifecycle === 'DEPRECATED';
}

/** The highest version in a state: releases, then pre-releases, then versions that are no semantic ones. */
export function highestIn<T extends Candidate>(
  versions: readonly T[],
  lifecycle: Lifecycle,
): T | undefined {
  return highestOf(
    versions.filter((version) => version.lifecycle === lifecycle),
    (left, right) =>
      orderOf(left.version).rank - orderOf(right.version).rank || compareVersions(left, right),
  );
}
