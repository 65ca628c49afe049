import { isTrackportError, systemCodeOf } from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';
import type { OnProgress } from '#shared/progress.ts';
import type { Finding } from '../spec/finding.ts';
import { foldId } from '../version/artifact.ts';
import type { ReadVersion } from '../artifact-store.ts';
import type { Caller, CatalogDeps } from '../version/version-view.ts';
import { checkDraft } from '../version/content-check.ts';
import { createVersion } from '../version/create-version.ts';
import { replaceVersion } from '../version/edit-version.ts';
import { parseImportFile } from './import-file.ts';
import type { ImportedDraft, ImportFile } from './import-file.ts';
import { createPlan } from './planned-versions.ts';
import type { PlanVersion } from './planned-versions.ts';

export type ImportOutcome = 'created' | 'replaced' | 'unchanged' | 'failed';

export type ImportResult = {
  file: string;
  outcome: ImportOutcome;
  id?: string;
  version?: string;
  /** How many findings the spec has; they block its publication, not its import. */
  findings?: number;
  /** Why it failed, or what else is to be said. */
  detail?: string;
};

export type ImportRequest = {
  /** Names as they are shown, in the order of the import. */
  files: readonly string[];
  /** Reads one of them. What it throws fails that file alone. */
  read(file: string): Promise<ImportFile>;
  /** Say what would be done and write nothing. */
  isDryRun: boolean;
  /** Told before each file, and once at the end. */
  onProgress: OnProgress;
};

/**
 * Imports files one after another as drafts. A version that is there with the same content is left
 * alone, a draft with other content is replaced; any other version never changes, so that its file
 * fails. A file that fails does not stop the others.
 * @throws {store-unavailable} the files so far are imported
 */
export async function importFiles(
  deps: CatalogDeps,
  caller: Caller,
  request: ImportRequest,
): Promise<ImportResult[]> {
  const results: ImportResult[] = [];
  const seen: Seen = new Map();
  const plan = request.isDryRun ? createPlan(deps) : undefined;
  for (const file of request.files) {
    request.onProgress(results.length, request.files.length, 'files', file);
    results.push(await importFile(deps, caller, { request, file, seen, plan }));
  }
  request.onProgress(results.length, request.files.length, 'files');
  return results;
}

/** Files of this import by id and version. */
type Seen = Map<string, { file: string; content: string }>;

type One = Planning & { request: ImportRequest; file: string; seen: Seen };
/** There when nothing is to be written. */
type Planning = { plan: PlanVersion | undefined };

async function importFile(
  deps: CatalogDeps,
  caller: Caller,
  { request, file, seen, plan }: One,
): Promise<ImportResult> {
  try {
    const draft = parseImportFile(await request.read(file));
    const { id, version } = draft;
    const name = `${foldId(id)} ${version}`;
    const former = seen.get(name);
    const content = fingerprint(draft);
    if (former) return { file, id, version, ...compare(former, content) };
    const decided = await importDraft(deps, caller, { draft, plan });
    if (decided.outcome !== 'failed') seen.set(name, { file, content });
    return { file, id, version, ...decided };
  } catch (error) {
    if (isTrackportError(error, 'store-unavailable')) throw error;
    return { file, outcome: 'failed', detail: detailOf(error) };
  }
}

type Decided = Omit<ImportResult, 'file'>;

/** The same document may lie there twice, as YAML and JSON say; two different ones may not. */
function compare(former: { file: string; content: string }, content: string): Decided {
  return former.content === content
    ? { outcome: 'unchanged', detail: `The same as ${former.file}.` }
    : { outcome: 'failed', detail: `${former.file} has the same id and version.` };
}

async function importDraft(
  deps: CatalogDeps,
  caller: Caller,
  { draft, plan }: Planning & { draft: ImportedDraft },
): Promise<Decided> {
  checkDraft(draft, deps.words);
  const { id, version } = draft;
  const found = await deps.store.read(caller.workspaceId, { id, version }, { withSpec: true });
  const outcome = decide(found, draft);
  if (outcome === 'failed')
    return {
      outcome,
      detail: `Version ${version} is not a draft any more, and the file differs from it. Give the file a new version.`,
    };
  if (outcome === 'unchanged' && found.kind === 'found')
    return toDecided(outcome, found.record.findings);
  if (plan) {
    await plan(caller.workspaceId, draft);
    return toDecided(outcome, await findingsOf(deps, draft));
  }
  const view =
    outcome === 'created'
      ? await createVersion(deps, caller, draft)
      : await replaceVersion(deps, caller, {
          id,
          version,
          content: withoutName(draft),
          ifMatch: { kind: 'any' },
        });
  return toDecided(outcome, view.record.findings);
}

function decide(found: ReadVersion, draft: ImportedDraft): ImportOutcome {
  if (found.kind !== 'found') return 'created';
  const { record, specText } = found;
  const same = fingerprint({ ...record, ...(specText !== undefined && { specText }) });
  if (same === fingerprint(draft)) return 'unchanged';
  return record.lifecycle === 'DRAFT' ? 'replaced' : 'failed';
}

/** What an owner writes, in one fixed order. */
function fingerprint(content: Omit<ImportedDraft, 'id' | 'version'>): string {
  const { type, owner, title, description, source, specText } = content;
  const { projectId, groupPath, members, counts } = content;
  const sorted = counts && Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([
    type,
    owner,
    title,
    description,
    source,
    specText,
    projectId,
    groupPath,
    members,
    sorted,
  ]);
}

function withoutName({ id: _id, version: _version, ...content }: ImportedDraft) {
  return content;
}

async function findingsOf(deps: CatalogDeps, { specText }: ImportedDraft): Promise<Finding[]> {
  return specText === undefined ? [] : deps.checkSpec(specText);
}

function toDecided(outcome: ImportOutcome, findings: readonly Finding[]): Decided {
  return { outcome, ...(findings.length > 0 && { findings: findings.length }) };
}

function detailOf(error: unknown): string {
  if (isTrackportError(error)) return error.detail ?? error.code;
  return `The file cannot be read: ${systemCodeOf(error) ?? String(errorFields(error)['error'])}.`;
}
