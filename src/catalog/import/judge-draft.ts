import { findingsOfBreaking, judgeBreaking } from '../compatibility/compatibility.ts';
import type { Finding } from '../spec/finding.ts';
import { baselineOf } from '../version/order/other-versions.ts';
import type { CatalogDeps } from '../version/version-view.ts';
import type { ImportedDraft } from './import-file.ts';
import type { ImportTarget } from './import-target.ts';

/** What judging takes: it runs where the import runs, not at the target. */
export type JudgeDeps = Pick<CatalogDeps, 'checkSpec' | 'diffSpecs'>;

/** What the publication of a draft would find. */
export type DraftJudgement = {
  /** In its spec. */
  findings: Finding[];
  /** What it breaks, held against the highest published version of the same major number. */
  breaking: Finding[];
};

/** What validation finds in a draft's spec. @throws {overloaded} */
export async function checkDraftSpec(
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
  const baseline = baselineOf(await target.candidates(id), { version });
  if (!baseline) return { findings, breaking: [] };
  const readBefore = () => target.specText({ id, version: baseline.version });
  const against = { version: baseline.version, serial: baseline.serial };
  const judged = await judgeBreaking(deps, after, readBefore);
  return { findings, breaking: findingsOfBreaking({ against, ...judged }) };
}
