/** Brings one draft to the target, or says what that would do. */
import { isTrackportError } from '#shared/errors.ts';
import { baselineOf, findingsOfBreaking, judgeBreaking, remarkOn } from '../compatibility.ts';
import type { SpecChecker, SpecDiffer } from '../spec/spec-jobs.ts';
import { type Finding, foldId, type Lifecycle } from '../version/artifact.ts';
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

/** The result of one draft's import. */
export type DraftResult = {
  outcome: ImportOutcome;
  /** To be mended before it can be published. */
  errors?: readonly Finding[];
  warnings?: readonly Finding[];
  detail?: string;
};

/** The import of one draft. */
export type DraftImport = SpecChecks & {
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
export async function importDraft(run: DraftImport, draft: ImportedDraft): Promise<DraftResult> {
  await run.target.check(draft);
  return run.work === 'plan' || run.work === 'check' ? plan(run, draft) : write(run, draft);
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

async function plan(run: DraftImport, draft: ImportedDraft): Promise<DraftResult> {
  const existing = await run.target.read(draft);
  const outcome = decide(existing);
  if (outcome === 'failed') return frozen(draft);
  if (outcome !== 'unchanged') await run.plan.write(draft);
  run.onTaken();
  if (run.work === 'check')
    return existing && existing.lifecycle !== 'DRAFT'
      ? { outcome }
      : check(run, { draft, outcome });
  const isWritten = outcome === 'unchanged' && existing;
  return { outcome, warnings: isWritten ? existing.findings : await checkDraftSpec(run, draft) };
}

async function check(
  run: DraftImport,
  { draft, outcome }: { draft: ImportedDraft; outcome: ImportOutcome },
): Promise<DraftResult> {
  const { findings, breaking, remarks } = await judgeDraft(run, run.plan, draft);
  const errors = run.acceptsBreaking ? findings : [...findings, ...breaking];
  const warnings = run.acceptsBreaking ? [...breaking, ...remarks] : remarks;
  if (errors.length === 0) {
    await run.plan.publish(draft);
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

async function write(run: DraftImport, draft: ImportedDraft): Promise<DraftResult> {
  const { target, work, acceptsBreaking, onTaken } = run;
  const written = await writeDraft(target, draft);
  if (written === undefined) return frozen(draft);
  onTaken();
  const { outcome, isDraft, tag, findings } = written;
  if (work === 'import' || !isDraft) return { outcome, warnings: isDraft ? findings : [] };
  const { id, version } = draft;
  const published = await target.publish({ id, version }, { tag, acceptsBreaking });
  return { outcome: 'published', warnings: published.findings };
}

type Written = WrittenVersion & { outcome: 'created' | 'replaced' | 'unchanged'; isDraft: boolean };

/** Undefined for a version whose content cannot change any more. */
async function writeDraft(
  target: ImportTarget,
  draft: ImportedDraft,
): Promise<Written | undefined> {
  let attempted: Written['outcome'] | undefined;
  for (let rounds = 1; ; rounds += 1) {
    const existing = await target.read(draft);
    const outcome = decide(existing);
    if (outcome === 'failed') return undefined;
    if (existing && outcome === 'unchanged')
      // A response that was lost may have told of it.
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
  // Equal content leaves the version as it is.
  return { ...replaced, outcome: replaced.tag === existing.tag ? 'unchanged' : 'replaced' };
}

/** The checks of specs. They run where the import runs, not at the target. */
export type SpecChecks = { checkSpec: SpecChecker; diffSpecs: SpecDiffer };

/** Findings that the publication of a draft would have. */
type DraftJudgement = {
  /** In its spec. */
  findings: Finding[];
  /** Breaks, held against the highest published version of the same major number. */
  breaking: Finding[];
  /** Tells that it was held against none, for its name. */
  remarks: Finding[];
};

/** Validates a draft's spec. @throws {overloaded} */
async function checkDraftSpec(
  { checkSpec }: SpecChecks,
  { specText }: ImportedDraft,
): Promise<Finding[]> {
  return specText === undefined ? [] : checkSpec(specText);
}

/** Judges a draft as its publication would, and writes nothing. @throws {overloaded} */
export async function judgeDraft(
  checks: SpecChecks,
  target: PublishedVersions,
  draft: ImportedDraft,
): Promise<DraftJudgement> {
  const findings = await checkDraftSpec(checks, draft);
  const { id, version, specText: after } = draft;
  const versions = await target.candidates(id);
  const baseline = baselineOf(versions, { version });
  const { remark } = remarkOn(versions, version);
  if (!baseline) return { findings, breaking: [], remarks: remark ? [remark] : [] };
  const readBefore = () => target.specText({ id, version: baseline.version });
  const against = { version: baseline.version, serial: baseline.serial };
  const judged = await judgeBreaking(checks, after, readBefore);
  return { findings, breaking: findingsOfBreaking({ against, ...judged }), remarks: [] };
}

/** Versions that a draft is held against. */
type PublishedVersions = Pick<ImportTarget, 'candidates' | 'specText'>;

/** The versions of the target, were the drafts so far written by an import that writes nothing. */
type ImportPlan = PublishedVersions & {
  /**
   * Takes note of a draft that would be written, and refuses what the store would refuse after those before.
   * @throws {validation-failed} for another type than the artifact's @throws {store-unavailable}
   */
  write(draft: ImportedDraft): Promise<void>;
  /** Takes note of a draft that would be published, so that those after it are held against it. */
  publish(draft: ImportedDraft): Promise<void>;
};

/** Plans one import. */
export function createPlan(target: PublishedVersions): ImportPlan {
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
