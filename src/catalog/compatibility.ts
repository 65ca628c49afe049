import type { Change } from './diff/changes.ts';
import type { SpecPair } from './diff/diff-specs.ts';
import type { JobOwner, SpecDiffer } from './spec/spec-jobs.ts';
import { type Finding, FINDINGS_MAX, fragmentOf, type VersionRecord } from './version/artifact.ts';
import type { Catalog, CatalogRules } from './index.ts';
import { readCandidatesOf, readRecord } from './version/read-version.ts';
import { type Candidate, highestIn, majorOf } from './version/version-order.ts';

/**
 * The version that another is held against when it is published: the highest PUBLISHED one of the same
 * major number, releases before pre-releases, whether it is below or above. Undefined where there is none,
 * and for a version that is no semantic one.
 */
export function baselineOf<T extends Candidate>(
  versions: readonly T[],
  { version }: { version: string },
): T | undefined {
  const major = majorOf(version);
  if (major === undefined) return undefined;
  const others = versions.filter(
    (one) => one.version !== version && majorOf(one.version) === major,
  );
  return highestIn(others, 'PUBLISHED');
}

/** Major numbers that are years, or whole dates, go on with no word of what they break. */
const DATE_MAJOR = /^(?:19|20)\d\d(?:\d{4})?$/;

/**
 * True when a version is held against nothing for its form alone, though others are published: it is no semantic one,
 * as `1.2.3.4`, or a date that begins another year.
 */
export function isBeyondComparing(
  versions: readonly Candidate[],
  ref: { version: string },
): boolean {
  const major = majorOf(ref.version);
  if (major !== undefined && !DATE_MAJOR.test(major)) return false;
  const isOther = ({ version, lifecycle }: Candidate): boolean =>
    version !== ref.version && lifecycle === 'PUBLISHED';
  return versions.some(isOther) && baselineOf(versions, ref) === undefined;
}

/** Changes that a version brings for readers of another one. */
export type BaselineComparison = {
  /** The version that it was compared with; absent where there is none, and with `off`. */
  against?: { version: string; serial: number };
  /** Changes that break who relies on that one, at most 1,000; `NOT_COMPARED` alone where nobody knows. */
  breaking: Change[];
  /**
   * Number of changes that nobody can judge, at most 1,000 with those above: every one, but of OpenAPI documents.
   * Absent where they could not be counted in time.
   */
  unclassified?: number;
  /** Tells that nothing was compared, for the version's name does not say what it follows. */
  remark?: Finding;
};

const NOTHING: BaselineComparison = { breaking: [], unclassified: 0 };

/** Stands for whatever a version breaks that could not be compared in time. */
export const NOT_COMPARED: Change = {
  path: '/spec',
  kind: 'changed',
  impact: 'unclassified',
  text: 'could not be compared in time',
};

/**
 * Compares a version with the one that it is held against when it is published, by their specs. With `breakingOnly` specs
 * that can break nothing are not compared, and nothing is counted as `unclassified`.
 * @throws {artifact-not-found} @throws {store-unavailable} @throws {quota-exceeded} @throws {overloaded}
 */
export async function compareToBaseline(
  { db, diffSpecs }: Catalog,
  reader: JobOwner,
  { record, specText: after }: { record: VersionRecord; specText?: string | undefined },
  {
    compatibility,
    breakingOnly = false,
  }: Pick<CatalogRules, 'compatibility'> & { breakingOnly?: boolean },
): Promise<BaselineComparison> {
  if (compatibility === 'off') return NOTHING;
  const { id } = record;
  const versions = await readCandidatesOf(db, reader.workspaceId, id);
  const baseline = baselineOf(versions, record);
  if (!baseline) return { ...NOTHING, ...remarkOn(versions, record.version) };
  const { version, serial } = baseline;
  const against = { version, serial };
  const readBefore = async (): Promise<string | undefined> =>
    (await readRecord(db, reader, { id, version, withSpec: true })).specText;
  const differ = { diffSpecs: (specs: SpecPair) => diffSpecs(specs, reader) };
  const judged = breakingOnly
    ? await judgeBreaking(differ, after, readBefore)
    : await judgeSpecs(differ, { before: await readBefore(), after });
  return { against, ...judged };
}

/** Tells the publisher of a version that is held against nothing so, whatever the configuration makes of breaks. */
export function remarkOn(
  versions: readonly Candidate[],
  version: string,
): Pick<BaselineComparison, 'remark'> {
  if (!isBeyondComparing(versions, { version })) return {};
  const detail = `Version ${version} was compared with no published version, for none has the same major number: what it breaks is not known. Versions such as 1.2.3 are compared.`;
  return { remark: { pointer: '#/version', code: 'not-compared', detail } };
}

type Judged = Omit<BaselineComparison, 'against'>;

/** Looks for what breaks alone: specs that can break nothing are neither compared nor, if older, read. */
export async function judgeBreaking(
  differ: { diffSpecs: SpecDiffer },
  after: string | undefined,
  readBefore: () => Promise<string | undefined>,
): Promise<Judged> {
  if (!canBreak(after)) return NOTHING;
  const before = await readBefore();
  return canBreak(before) ? judgeSpecs(differ, { before, after }) : NOTHING;
}

/**
 * False for a spec of which `diffSpecs` says nothing but `unclassified`, whatever it is compared with.
 * Told by the text as it is stored, without reading it: true may also be wrong.
 */
export function canBreak(specText: string | undefined): boolean {
  return (
    specText !== undefined && ['"openapi":"', '"swagger":"'].some((word) => specText.includes(word))
  );
}

/** Finds what the later spec of a pair breaks. A pair that is too costly must keep nobody from publishing. */
async function judgeSpecs(
  { diffSpecs }: { diffSpecs: SpecDiffer },
  specs: SpecPair,
): Promise<Judged> {
  const compared = await diffSpecs(specs);
  if (compared === 'too-costly')
    return { breaking: canBreak(specs.before) && canBreak(specs.after) ? [NOT_COMPARED] : [] };
  const { changes } = compared;
  return {
    breaking: changes.filter(({ impact }) => impact === 'breaking'),
    unclassified: changes.filter(({ impact }) => impact === 'unclassified').length,
  };
}

/** Breaking changes as findings: the first 100, and one that says that there are more. */
export function findingsOfBreaking({ against, breaking }: BaselineComparison): Finding[] {
  if (breaking[0] === NOT_COMPARED) {
    const detail = `The spec could not be compared with ${against?.version} in time: what it breaks is not known.`;
    return [{ pointer: '#/spec', code: 'too-costly', detail }];
  }
  const findings = breaking.slice(0, FINDINGS_MAX).map(({ path, text }) => ({
    pointer: fragmentOf(path),
    code: 'breaking-change',
    detail: `Breaks who relies on ${against?.version}: ${text}.`,
  }));
  if (breaking.length <= FINDINGS_MAX) return findings;
  const detail = 'More breaking changes are not shown; compare the two versions to see them.';
  return [...findings, { pointer: '#/spec', code: 'more', detail }];
}
