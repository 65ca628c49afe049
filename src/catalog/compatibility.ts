import { TrackportError } from '#shared/errors.ts';
import type { VersionChange } from './artifact-store.ts';
import type { Change } from './diff/changes.ts';
import { canBreak, type SpecDiffer, type SpecPair } from './diff/diff-specs.ts';
import { type Finding, FINDINGS_MAX, fragmentOf } from './spec/finding.ts';
import type { VersionRecord } from './version/artifact.ts';
import { baselineOf, isBeyondComparing } from './version/other-versions.ts';
import type { Candidate } from './version/version-order.ts';
import { type CatalogDeps, type Reader, readRecord } from './version/version-view.ts';

/** What a version breaks. */
export type Compatibility = {
  /** The version that it was compared with; absent where there is none, and with `off`. */
  against?: { version: string; serial: number };
  /** Changes that break who relies on that one, at most 1,000; `NOT_COMPARED` alone where nobody knows. */
  breaking: Change[];
  /**
   * How many changes nobody can judge, at most 1,000 with those above: every one, but of OpenAPI documents.
   * Absent where they could not be counted in time.
   */
  unclassified?: number;
  /** That nothing was compared, for what the version is called. */
  remark?: Finding;
};

const NOTHING: Compatibility = { breaking: [], unclassified: 0 };

/** Stands for whatever a version breaks that could not be compared in time. */
export const NOT_COMPARED: Change = {
  path: '/spec',
  kind: 'changed',
  impact: 'unclassified',
  text: 'could not be compared in time',
};

type Deps = Pick<CatalogDeps, 'store' | 'diffSpecs' | 'compatibility'>;

type BaselineRequest = {
  id: string;
  version: string;
  /** Specs that can break nothing are not compared: nothing is counted as `unclassified` then. */
  breakingOnly?: boolean;
};

/**
 * Compares a version with the one that it is held against when it is published, by their specs.
 * @throws {artifact-not-found} @throws {store-unavailable}
 */
export async function compareToBaseline(
  deps: Deps,
  reader: Reader,
  { breakingOnly = false, ...ref }: BaselineRequest,
): Promise<Compatibility> {
  if (deps.compatibility === 'off') return NOTHING;
  const versions = (await deps.store.candidates(reader.workspaceId, ref.id)) ?? [];
  const baseline = baselineOf(versions, ref);
  if (!baseline) return { ...NOTHING, ...remarkOn(versions, ref.version) };
  const { version, serial } = baseline;
  const against = { version, serial };
  const specTextOf = async (name: string): Promise<string | undefined> => {
    const query = { id: ref.id, version: name, withSpec: true };
    return (await readRecord(deps, reader, query)).specText;
  };
  const after = await specTextOf(ref.version);
  const readBefore = () => specTextOf(version);
  const differ = { diffSpecs: (specs: SpecPair) => deps.diffSpecs(specs, reader) };
  const judged = breakingOnly
    ? await judgeBreaking(differ, after, readBefore)
    : await judgeSpecs(differ, { before: await readBefore(), after });
  return { against, ...judged };
}

/** Who publishes a version that is held against nothing is told so, whatever the configuration makes of breaks. */
export function remarkOn(
  versions: readonly Candidate[],
  version: string,
): Pick<Compatibility, 'remark'> {
  if (!isBeyondComparing(versions, { version })) return {};
  const detail = `Version ${version} was compared with no published version, for none has the same major number: what it breaks is not known. Versions such as 1.2.3 are compared.`;
  return { remark: { pointer: '#/version', code: 'not-compared', detail } };
}

type Judged = Omit<Compatibility, 'against'>;

/** Looks for what breaks alone: specs that can break nothing are neither compared nor, if older, read. */
export async function judgeBreaking(
  deps: { diffSpecs: SpecDiffer },
  after: string | undefined,
  readBefore: () => Promise<string | undefined>,
): Promise<Judged> {
  if (!canBreak(after)) return NOTHING;
  const before = await readBefore();
  return canBreak(before) ? judgeSpecs(deps, { before, after }) : NOTHING;
}

/** What the later spec of a pair breaks. A pair that is too costly must keep nobody from publishing. */
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
export function findingsOfBreaking({ against, breaking }: Compatibility): Finding[] {
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

/** What the publication of a version brings with it. */
type Judgement = {
  /** What it breaks, beside the findings that its draft had. */
  findings: Finding[];
  /** For the audit log: that breaking changes were accepted. */
  audit: Record<string, unknown>;
  /** What the change is conditional on: the version that was compared with is still that one. */
  requires: Pick<VersionChange, 'baseline'>;
};

/**
 * Says what a version breaks that is to be published. Where breaking changes block, the caller has to
 * accept them.
 * @throws {breaking-change} with each of them @throws {store-unavailable}
 */
export async function judgePublish(
  deps: Deps,
  caller: Reader,
  { record, acceptsBreaking }: { record: VersionRecord; acceptsBreaking: boolean },
): Promise<Judgement> {
  const { id, version } = record;
  const compared = await compareToBaseline(deps, caller, { id, version, breakingOnly: true });
  const { against, breaking } = compared;
  const { remark } = compared;
  const findings = [...findingsOfBreaking(compared), ...(remark ? [remark] : [])];
  if (breaking.length > 0 && deps.compatibility === 'block' && !acceptsBreaking)
    refuseBreaking(compared, findings);
  const isAccepted = acceptsBreaking && breaking.length > 0;
  return {
    findings,
    audit: isAccepted ? { breaking: 'accept', against: against?.version } : {},
    requires: deps.compatibility === 'off' ? {} : { baseline: { serial: against?.serial } },
  };
}

function refuseBreaking({ against, breaking }: Compatibility, errors: Finding[]): never {
  const count = breaking.length === 1 ? 'One change breaks' : `${breaking.length} changes break`;
  const what = breaking[0] === NOT_COMPARED ? 'Nobody knows what breaks' : count;
  throw new TrackportError('breaking-change', {
    detail: `${what} who relies on ${against?.version}, the highest published version of the same major number. Take them back, raise the major number, or send \`breaking=accept\`.`,
    errors,
  });
}
