import type { Finding } from '../spec/finding.ts';
import type { Lifecycle } from '../version/artifact.ts';
import type { Candidate } from '../version/order/default-version.ts';
import type { ImportedDraft } from './import-file.ts';

/** The name of one version. */
export type VersionName = { id: string; version: string };

/** A version of the target under the name of a draft. */
export type ExistingVersion = {
  lifecycle: Lifecycle;
  /** Whether its content is the draft's; `unsure` where all that can be seen of it is. */
  match: 'same' | 'unsure' | 'different';
  /** The entity tag that a change is based on. */
  tag: string;
  findings: readonly Finding[];
};

/** A version as a write has left it. */
export type WrittenVersion = { tag: string; findings: readonly Finding[] };

/**
 * Where an import goes: the store at hand, or a server. All of it belongs to one workspace, and throws the
 * codes of the catalog's use cases.
 * @throws {TargetFailure} when nothing further would succeed either
 */
export type ImportTarget = {
  /** Refuses what no version can hold. @throws {validation-failed} @throws {payload-too-large} */
  check(draft: ImportedDraft): Promise<void>;
  /** The version of the draft's name; undefined where there is none. */
  read(draft: ImportedDraft): Promise<ExistingVersion | undefined>;
  /** Every version of an artifact, in no order; none where there is no artifact. */
  candidates(id: string): Promise<readonly Candidate[]>;
  /** The spec of a version that is there; undefined where it has none. */
  specText(name: VersionName): Promise<string | undefined>;
  /** @throws {version-exists} */
  create(draft: ImportedDraft): Promise<WrittenVersion>;
  /** @throws {not-a-draft} @throws {precondition-failed} when `tag` is not current */
  replace(draft: ImportedDraft, tag: string): Promise<WrittenVersion>;
  /** @throws {spec-invalid} @throws {breaking-change} @throws {precondition-failed} */
  publish(
    name: VersionName,
    how: { tag: string; acceptsBreaking: boolean },
  ): Promise<WrittenVersion>;
};

/** Why the target cannot be worked with any more; the message is for people, and holds no secret. */
export class TargetFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TargetFailure';
  }
}
