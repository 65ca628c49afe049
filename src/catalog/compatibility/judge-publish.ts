import { TrackportError } from '#shared/errors.ts';
import type { Change } from '../artifact-store.ts';
import type { Finding } from '../spec/finding.ts';
import type { VersionRecord } from '../version/artifact.ts';
import type { Caller, CatalogDeps } from '../version/version-view.ts';
import {
  compareToBaseline,
  type Compatibility,
  findingsOfBreaking,
  NOT_COMPARED,
} from './compatibility.ts';

/** What the publication of a version brings with it. */
export type Judgement = {
  /** What it breaks, beside the findings that its draft had. */
  findings: Finding[];
  /** For the audit log: that breaking changes were accepted. */
  audit: Record<string, unknown>;
  /** What the store holds the change to: the version that was compared with is still that one. */
  held: Pick<Change, 'baseline'>;
};

/**
 * Says what a version breaks that is to be published. Where breaking changes block, the caller has to
 * accept them.
 * @throws {breaking-change} with each of them @throws {store-unavailable}
 */
export async function judgePublish(
  deps: Pick<CatalogDeps, 'store' | 'diffSpecs' | 'compatibility'>,
  caller: Pick<Caller, 'workspaceId' | 'signal'>,
  { record, acceptsBreaking }: { record: VersionRecord; acceptsBreaking: boolean },
): Promise<Judgement> {
  const { id, version } = record;
  const compared = await compareToBaseline(deps, caller, { id, version, breakingOnly: true });
  const { against, breaking } = compared;
  const findings = findingsOfBreaking(compared);
  if (breaking.length > 0 && deps.compatibility === 'block' && !acceptsBreaking)
    refuseBreaking(compared, findings);
  const isAccepted = acceptsBreaking && breaking.length > 0;
  return {
    findings,
    audit: isAccepted ? { breaking: 'accept', against: against?.version } : {},
    held: deps.compatibility === 'off' ? {} : { baseline: { serial: against?.serial } },
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
