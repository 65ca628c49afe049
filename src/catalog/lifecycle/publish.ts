import type { Database } from '#shared/database.ts';
import { TrackportError } from '#shared/errors.ts';
import {
  type BaselineComparison,
  baselineOf,
  compareToBaseline,
  findingsOfBreaking,
  NOT_COMPARED,
} from '../compatibility.ts';
import {
  type Finding,
  FINDINGS_MAX,
  type VersionRecord,
  type VersionRef,
} from '../version/artifact.ts';
import { checkCondition, type Precondition } from '../version/entity-tag.ts';
import { type Caller, type Catalog, type CatalogRules, jobOwnerOf } from '../index.ts';
import {
  findArtifact,
  onlyVersionIn,
  readCandidates,
  readRecord,
  refuseUnknown,
} from '../version/read-version.ts';
import {
  appendChange,
  lockArtifact,
  moveVersion,
  type StoredView,
  toStoredView,
} from '../version/store-version.ts';
import { requireTransition, transit } from './transitions.ts';

type Publication = VersionRef & {
  /** Also where breaking changes block. */
  acceptsBreaking?: boolean;
  ifMatch?: Precondition | undefined;
};

const ATTEMPTS_MAX = 3;

/**
 * Publishes a draft; without `version`, the only one. Its spec is compared with that of its baseline before the
 * transaction, for that may take seconds: when one of the two has changed by then, they are compared again.
 * @throws {validation-failed} where `version` is needed
 * @throws {artifact-not-found}
 * @throws {invalid-lifecycle-transition} with `current` and `allowed`
 * @throws {precondition-failed}
 * @throws {spec-invalid} with the findings, unless they are configured to warn
 * @throws {breaking-change} with each, where they are configured to block, unless `acceptsBreaking`
 * @throws {quota-exceeded}
 * @throws {overloaded} its spec cannot be compared now, or one of the two changed each time
 * @throws {store-unavailable}
 */
export async function publishVersion(
  catalog: Catalog,
  caller: Caller,
  publication: Publication,
): Promise<StoredView> {
  const { db, clock } = catalog;
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    const rules = catalog.rules();
    const { record: draft, specText } = await readDraft(db, caller, publication);
    const { id, version } = draft;
    requireTransition(draft, { action: 'publish', now: clock.now() });
    checkCondition(draft, publication.ifMatch);
    requireValidSpec(rules, draft);
    const compared = await compareToBaseline(
      catalog,
      jobOwnerOf(caller),
      { record: draft, specText },
      { ...rules, breakingOnly: true },
    );
    const breaks = requireCompatible(rules, compared, publication);
    const view = await db.transaction(async (tx) => {
      const artifact = await lockArtifact(tx, caller, id);
      const { record: current } = await readRecord(tx, caller, { id, version, withSpec: false });
      if (current.serial !== draft.serial || current.revision !== draft.revision) return undefined;
      const baseline = baselineOf(await readCandidates(tx, artifact.serial), draft);
      const isCompared = baseline?.serial === compared.against?.serial;
      if (rules.compatibility !== 'off' && !isCompared) return undefined;
      const now = clock.now();
      const published = {
        ...transit(draft, { action: 'publish', now }),
        findings: [...draft.findings, ...breaks],
      };
      await moveVersion(tx, artifact, published);
      const changes = { lifecycle: published.lifecycle, ...accepted(compared, publication) };
      appendChange(tx, caller, published, { at: now, action: 'publish', changes });
      return toStoredView(tx, caller, { record: published, specText });
    });
    if (view) return view;
  }
  throw new TrackportError('overloaded', {
    detail:
      'The version, or the one that it is compared with, changed each time that they were compared.',
    retryAfterSeconds: 1,
  });
}

async function readDraft(db: Database, caller: Caller, { id, version }: VersionRef) {
  if (version !== undefined) return readRecord(db, caller, { id, version, withSpec: true });
  const serial = (await findArtifact(db, caller.workspaceId, id)) ?? refuseUnknown('no-artifact');
  const only = await onlyVersionIn(db, { serial }, 'DRAFT');
  return readRecord(db, caller, { id, version: only, withSpec: true });
}

function requireValidSpec({ findings: rule }: CatalogRules, { findings }: VersionRecord): void {
  if (findings.length === 0 || rule === 'warn') return;
  throw new TrackportError('spec-invalid', {
    detail: `The spec has ${countOf(findings.length)}. Replace the draft's spec, then publish.`,
    errors: findings,
  });
}

/** The last of too many findings only counts the rest. */
function countOf(findings: number): string {
  if (findings > FINDINGS_MAX) return `more than ${FINDINGS_MAX} findings`;
  return findings === 1 ? 'one finding' : `${findings} findings`;
}

/** Returns what the version breaks. Where that blocks, the caller has to accept it. */
function requireCompatible(
  { compatibility }: CatalogRules,
  compared: BaselineComparison,
  { acceptsBreaking = false }: Publication,
): Finding[] {
  const { against, breaking, remark } = compared;
  const findings = [...findingsOfBreaking(compared), ...(remark ? [remark] : [])];
  if (breaking.length === 0 || compatibility !== 'block' || acceptsBreaking) return findings;
  const count = breaking.length === 1 ? 'One change breaks' : `${breaking.length} changes break`;
  const what = breaking[0] === NOT_COMPARED ? 'Nobody knows what breaks' : count;
  throw new TrackportError('breaking-change', {
    detail: `${what} who relies on ${against?.version}, the highest published version of the same major number. Take them back, raise the major number, or send \`breaking=accept\`.`,
    errors: findings,
  });
}

/** For the audit log: that breaking changes were accepted. */
function accepted({ against, breaking }: BaselineComparison, { acceptsBreaking }: Publication) {
  if (acceptsBreaking !== true || breaking.length === 0) return {};
  return { breaking: 'accept', against: against?.version };
}
