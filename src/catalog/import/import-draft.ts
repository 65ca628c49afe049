/** What becomes of one draft at the target. */
import { isTrackportError } from '#shared/errors.ts';
import { baselineOf, findingsOfBreaking, judgeBreaking, remarkOn } from '../compatibility.ts';
import type { SpecDiffer } from '../diff/diff-specs.ts';
import type { Finding, SpecChecker } from '../spec/finding.ts';
import { foldId, type Lifecycle } from '../version/artifact.ts';
import type { Candidate } from '../version/version-order.ts';
import { requireType } from '../version/content-check.ts';
import type { ImportedDraft } from './import-file.ts';
import type {
  ExistingVersion,
  ImportTarget,
  VersionName,
  WrittenVersion,
} from './import-target.ts';

/**
 * `import`: as drafts. `publish`: and publish them. `plan`: say what `import` would do. `check`: say what
 * `publish` would find. The last two write nothing.
 */
export type ImportWork = 'import' | 'publish' | 'plan' | 'check';

/** `skipped`: it is nothing that could be imported, such as a part of another file. */
export type ImportOutcome =
  | 'created'
  | 'replaced'
  | 'published'
  | 'unchanged'
  | 'skipped'
  | 'failed';

/** What became of one draft. */
export type DraftResult = {
  outcome: ImportOutcome;
  /** What is to be fixed before it can be published. */
  errors?: readonly Finding[];
  warnings?: readonly Finding[];
  detail?: string;
};

export type DraftDeps = JudgeDeps & {
  target: ImportTarget;
  plan: ImportPlan;
  work: ImportWork;
  /** Breaking changes are warnings. */
  acceptsBreaking: boolean;
  /** Told once the version is there with the draft's content, or would be: its publication can still fail. */
  onTaken: () => void;
};

/** Another change came between reading and writing. */
const OVERTAKEN = ['version-exists', 'not-a-draft', 'precondition-failed'] as const;
const ROUNDS_MAX = 3;

/** Does the work for one draft. Throws as its `ImportTarget` does. */
export async function importDraft(deps: DraftDeps, draft: ImportedDraft): Promise<DraftResult> {
  await deps.target.check(draft);
  return deps.work === 'plan' || deps.work === 'check' ? plan(deps, draft) : write(deps, draft);
}

function decide(
  existing: ExistingVersion | undefined,
): Exclude<ImportOutcome, 'published' | 'skipped'> {
  if (!existing) return 'created';
  if (existing.match === 'same') return 'unchanged';
  if (existing.lifecycle === 'DRAFT') return 'replaced';
  return existing.match === 'unsure' ? 'unchanged' : 'failed';
}

function frozen({ version }: ImportedDraft): DraftResult {
  const detail = `Version ${version} is not a draft any more, and the file differs from it. Give the file a new version.`;
  return { outcome: 'failed', errors: [{ pointer: '#/version', code: 'frozen', detail }], detail };
}

async function plan(deps: DraftDeps, draft: ImportedDraft): Promise<DraftResult> {
  const existing = await deps.target.read(draft);
  const outcome = decide(existing);
  if (outcome === 'failed') return frozen(draft);
  if (outcome !== 'unchanged') await deps.plan.write(draft);
  deps.onTaken();
  if (deps.work === 'check')
    return existing && existing.lifecycle !== 'DRAFT'
      ? { outcome }
      : check(deps, { draft, outcome });
  const isWritten = outcome === 'unchanged' && existing;
  return { outcome, warnings: isWritten ? existing.findings : await checkDraftSpec(deps, draft) };
}

async function check(
  deps: DraftDeps,
  { draft, outcome }: { draft: ImportedDraft; outcome: ImportOutcome },
): Promise<DraftResult> {
  const { findings, breaking, remarks } = await judgeDraft(deps, deps.plan, draft);
  const errors = deps.acceptsBreaking ? findings : [...findings, ...breaking];
  const warnings = deps.acceptsBreaking ? [...breaking, ...remarks] : remarks;
  if (errors.length === 0) {
    await deps.plan.publish(draft);
    return { outcome, warnings };
  }
  const counts = [
    countOf(findings.length, 'finding'),
    countOf(errors.length - findings.length, 'breaking change'),
  ];
  return { outcome: 'failed', errors, warnings, detail: `${counts.filter(Boolean).join(', ')}.` };
}

function countOf(count: number, what: string): string {
  if (count === 0) return '';
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

async function write(deps: DraftDeps, draft: ImportedDraft): Promise<DraftResult> {
  const written = await writeDraft(deps, draft);
  if (written === undefined) return frozen(draft);
  deps.onTaken();
  const { outcome, isDraft, tag, findings } = written;
  if (deps.work === 'import' || !isDraft) return { outcome, warnings: isDraft ? findings : [] };
  const { id, version } = draft;
  const { acceptsBreaking } = deps;
  const published = await deps.target.publish({ id, version }, { tag, acceptsBreaking });
  return { outcome: 'published', warnings: published.findings };
}

type Written = WrittenVersion & { outcome: 'created' | 'replaced' | 'unchanged'; isDraft: boolean };

/** Undefined for a version whose content cannot change any more. */
async function writeDraft(
  { target }: DraftDeps,
  draft: ImportedDraft,
): Promise<Written | undefined> {
  let attempted: Written['outcome'] | undefined;
  for (let rounds = 1; ; rounds += 1) {
    const existing = await target.read(draft);
    const outcome = decide(existing);
    if (outcome === 'failed') return undefined;
    if (existing && outcome === 'unchanged')
      // What a lost response told of is there now.
      return {
        ...existing,
        outcome: attempted ?? outcome,
        isDraft: existing.lifecycle === 'DRAFT',
      };
    attempted = outcome;
    try {
      return { ...(await put(target, { draft, existing })), isDraft: true };
    } catch (error) {
      if (rounds === ROUNDS_MAX || !OVERTAKEN.some((code) => isTrackportError(error, code)))
        throw error;
    }
  }
}

async function put(
  target: ImportTarget,
  { draft, existing }: { draft: ImportedDraft; existing: ExistingVersion | undefined },
): Promise<Omit<Written, 'isDraft'>> {
  if (!existing) return { ...(await target.create(draft)), outcome: 'created' };
  const replaced = await target.replace(draft, existing.tag);
  // The same content leaves the version as it is.
  return { ...replaced, outcome: replaced.tag === existing.tag ? 'unchanged' : 'replaced' };
}

/** What judging takes: it runs where the import runs, not at the target. */
export type JudgeDeps = { checkSpec: SpecChecker; diffSpecs: SpecDiffer };

/** What the publication of a draft would find. */
type DraftJudgement = {
  /** In its spec. */
  findings: Finding[];
  /** What it breaks, held against the highest published version of the same major number. */
  breaking: Finding[];
  /** That it was held against none, for its name. */
  remarks: Finding[];
};

/** What validation finds in a draft's spec. @throws {overloaded} */
async function checkDraftSpec(
  { checkSpec }: Pick<JudgeDeps, 'checkSpec'>,
  { specText }: ImportedDraft,
): Promise<Finding[]> {
  return specText === undefined ? [] : checkSpec(specText);
}

/** Judges a draft as its publication would, and writes nothing. @throws {overloaded} */
export async function judgeDraft(
  deps: JudgeDeps,
  target: Pick<ImportTarget, 'candidates' | 'specText'>,
  draft: ImportedDraft,
): Promise<DraftJudgement> {
  const findings = await checkDraftSpec(deps, draft);
  const { id, version, specText: after } = draft;
  const versions = await target.candidates(id);
  const baseline = baselineOf(versions, { version });
  const { remark } = remarkOn(versions, version);
  if (!baseline) return { findings, breaking: [], remarks: remark ? [remark] : [] };
  const readBefore = () => target.specText({ id, version: baseline.version });
  const against = { version: baseline.version, serial: baseline.serial };
  const judged = await judgeBreaking(deps, after, readBefore);
  return { findings, breaking: findingsOfBreaking({ against, ...judged }), remarks: [] };
}

/** What an import that writes nothing would have made of its target so far. */
type ImportPlan = Pick<ImportTarget, 'candidates' | 'specText'> & {
  /**
   * Takes note of a draft that would be written, and refuses what the store would refuse after those before.
   * @throws {validation-failed} for another type than the artifact's @throws {store-unavailable}
   */
  write(draft: ImportedDraft): Promise<void>;
  /** Takes note of a draft that would be published, so that those after it are held against it. */
  publish(draft: ImportedDraft): Promise<void>;
};

/** Plans one import. */
export function createPlan(target: Pick<ImportTarget, 'candidates' | 'specText'>): ImportPlan {
  const planned = new Map<string, readonly Candidate[]>();
  const specs = new Map<string, string | undefined>();
  const nameOf = ({ id, version }: VersionName): string => `${foldId(id)} ${version}`;
  const candidates = async (id: string): Promise<readonly Candidate[]> =>
    planned.get(foldId(id)) ?? (await target.candidates(id));
  const note = async (draft: ImportedDraft, lifecycle: Lifecycle): Promise<void> => {
    const { id, version, type } = draft;
    const versions = await candidates(id);
    const former = versions.find((one) => one.version === version);
    const serial = former?.serial ?? Math.max(0, ...versions.map((one) => one.serial)) + 1;
    requireType(versions, { serial, type });
    const others = versions.filter((one) => one !== former);
    const createdAt = former?.createdAt ?? Infinity;
    planned.set(foldId(id), [...others, { serial, version, type, lifecycle, createdAt }]);
    specs.set(nameOf(draft), draft.specText);
  };
  return {
    candidates,
    specText: async (name) =>
      specs.has(nameOf(name)) ? specs.get(nameOf(name)) : target.specText(name),
    write: (draft) => note(draft, 'DRAFT'),
    publish: (draft) => note(draft, 'PUBLISHED'),
  };
}
