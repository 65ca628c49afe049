import { isTrackportError } from '#shared/errors.ts';
import type { OnProgress } from '#shared/progress.ts';
import { foldId } from '../version/artifact.ts';
import { specKindOf } from '../spec/places.ts';
import { fingerprintOf, type ImportTarget, TargetFailure } from './import-target.ts';
import {
  faultsOf,
  type ImportFinding,
  locateIn,
  type LocatePointer,
  placeFindings,
  toFailure,
} from './import-finding.ts';
import {
  createPlan,
  type DraftImport,
  type DraftResult,
  importDraft,
  type ImportOutcome,
  type ImportWork,
  type SpecChecks,
} from './import-draft.ts';
import {
  type ImportedDraft,
  type ImportFile,
  isArtifact,
  type ParsedFile,
  parseDocument,
  parseImportFile,
} from './import-file.ts';

export type ImportResult = {
  file: string;
  outcome: ImportOutcome;
  id?: string;
  version?: string;
  /** Findings about its places; absent where there are none. */
  findings?: ImportFinding[];
  /** Reason for which it failed, or another remark. */
  detail?: string;
};

type ImportRequest = {
  /** Names as they are shown, in the order of the import. */
  files: readonly string[];
  /** Reads one of them. What it throws fails that file alone. */
  read(file: string): Promise<ImportFile>;
  work: ImportWork;
  /** With `publish` and `check`: breaking changes are warnings. */
  acceptsBreaking: boolean;
  /** Told before each file, and once at the end. */
  onProgress: OnProgress;
};

/** Results of the files, in their order. */
export type ImportReport = {
  results: ImportResult[];
  /** Error for which those that are missing among the results were not tried. */
  stoppedBy?: unknown;
};

/**
 * Imports files one after another as drafts. A version that is there with the same content is left
 * alone, a draft with other content is replaced; any other version never changes, so that its file
 * fails. A file that fails does not stop the others; a target that fails does, and an import that runs
 * again goes on where it stopped.
 */
export async function importFiles(
  { checkSpec, diffSpecs }: SpecChecks,
  target: ImportTarget,
  request: ImportRequest,
): Promise<ImportReport> {
  const { files, onProgress, work, acceptsBreaking } = request;
  const run: Run = {
    draftImport: { checkSpec, diffSpecs, target, plan: createPlan(target), work, acceptsBreaking },
    seen: new Map(),
  };
  const results: ImportResult[] = [];
  for (const file of files) {
    onProgress(results.length, files.length, 'files', file);
    try {
      results.push({ file, ...(await importFile(run, file, () => request.read(file))) });
    } catch (error) {
      return { results, stoppedBy: error };
    }
  }
  onProgress(results.length, files.length, 'files');
  return { results };
}

type Run = {
  draftImport: Omit<DraftImport, 'onTaken'>;
  /** Files of this import by id and version. The same content fails again for the same reason, unless it is done. */
  seen: Map<string, { file: string; content: string; isDone: boolean }>;
};

type FileResult = Omit<ImportResult, 'file'>;

/** @throws what stops the import */
async function importFile(
  run: Run,
  file: string,
  read: () => Promise<ImportFile>,
): Promise<FileResult> {
  let source: ImportFile | undefined;
  let name: Pick<ImportResult, 'id' | 'version'> = {};
  let locate: LocatePointer = () => undefined;
  try {
    source = await read();
    locate = locateIn(source, 'artifact');
    const parsed = parseDocument(source);
    if (isFragment(parsed)) return { outcome: 'skipped', detail: FRAGMENT };
    const { form, draft } = parseImportFile(source, await bundle(source, parsed));
    name = { id: draft.id, version: draft.version };
    locate = locateIn(source, form);
    return toResult(name, await importUnlessSeen(run, { file, draft }), locate);
  } catch (error) {
    if (error instanceof TargetFailure || isTrackportError(error, 'store-unavailable')) throw error;
    const faults = () => (source ? faultsOf(source) : []);
    return { ...name, outcome: 'failed', ...toFailure(error, { locate, faults }) };
  }
}

const FRAGMENT = 'No OpenAPI or AsyncAPI document, and no artifact: passed over.';

function isFragment({ document }: ParsedFile): boolean {
  return document !== null && specKindOf(document) === 'other' && !isArtifact(document);
}

/** A reference to something else than a place of the same document; in a text its quotes are escaped. */
const FOREIGN_REFERENCE = /"\$ref":"[^#"]/;

/** Documents without references to other files stay as they are written. */
async function bundle(source: ImportFile, parsed: ParsedFile): Promise<ParsedFile> {
  const { document } = parsed;
  const isSpec = specKindOf(document) !== 'other';
  if (!source.bundle || !isSpec || !FOREIGN_REFERENCE.test(JSON.stringify(document))) return parsed;
  return { ...parsed, document: await source.bundle(document as object) };
}

/** A document may lie there twice, in YAML and in JSON; two different ones of one name may not. */
async function importUnlessSeen(
  { draftImport, seen }: Run,
  { file, draft }: { file: string; draft: ImportedDraft },
): Promise<DraftResult> {
  const name = `${foldId(draft.id)} ${draft.version}`;
  const content = fingerprintOf(draft);
  const former = seen.get(name);
  if (former?.isDone === true && former.content === content)
    return { outcome: 'unchanged', detail: `The same as ${former.file}.` };
  if (former && former.content !== content) {
    const detail = `${former.file} has the same id and version: ${draft.id}, ${draft.version}. Give one of them another version, or an id of its own: --id ${file}=ID.`;
    return { outcome: 'failed', errors: [{ pointer: '#/id', code: 'repeated', detail }], detail };
  }
  const own = { file, content, isDone: false };
  const onTaken = () => void seen.set(name, own);
  const result = await importDraft({ ...draftImport, onTaken }, draft);
  own.isDone = result.outcome !== 'failed';
  return result;
}

function toResult(
  name: Pick<ImportResult, 'id' | 'version'>,
  { outcome, errors = [], warnings = [], detail }: DraftResult,
  locate: LocatePointer,
): FileResult {
  const findings = [
    ...placeFindings(errors, 'error', locate),
    ...placeFindings(warnings, 'warning', locate),
  ];
  return { ...name, outcome, ...(findings.length > 0 && { findings }), detail };
}
