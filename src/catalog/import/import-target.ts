import type { Secret } from '#shared/crypto/secret.ts';
import {
  type Content,
  type Finding,
  foldId,
  isComputedCount,
  type Lifecycle,
} from '../version/artifact.ts';
import type { Candidate } from '../version/version-order.ts';
import type { ImportedDraft } from './import-file.ts';

/** The name of one version. */
export type VersionName = { id: string; version: string };

/** A version of the target under the name of a draft. */
export type ExistingVersion = {
  lifecycle: Lifecycle;
  /** `same`: its content is the draft's; `unsure`: all that can be seen of it is. */
  match: 'same' | 'unsure' | 'different';
  /** The entity tag that a change is based on. */
  tag: string;
  findings: readonly Finding[];
};

/** A version as a write has left it. */
export type WrittenVersion = { tag: string; findings: readonly Finding[] };

/**
 * The catalog that an import goes to. All of it belongs to one workspace, and throws the codes of the
 * catalog's use cases.
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

/** The target cannot be worked with any more; the message is for people, and holds no secret. */
export class TargetFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TargetFailure';
  }
}

/** A Trackport server that an import goes to, and who comes to it. */
export type ImportServer = {
  /** Its root, without a slash at its end. */
  server: string;
  credential: { kind: 'token'; token: Secret } | ({ kind: 'client' } & MachineClient);
};

/** A source of bearer tokens. */
export type TokenSource = {
  /** One that should be good now. @throws {TargetFailure} */
  token(): Promise<string>;
  /** Forgets the last one, which the server refused; absent where there is no other. */
  renew?: () => void;
};

/** A client that gets its tokens by the client credentials grant (RFC 6749 section 4.4). */
export type MachineClient = {
  /** Exactly as the issuer names itself; whoever hands over an `http:` address takes the risk. */
  issuer: string;
  clientId: string;
  clientSecret: Secret;
  /** With blanks between them. */
  scope: string;
  /** For issuers that want to be told what the token is for. */
  audience?: string;
};

/** The owner's content as text, in one fixed order: two drafts with the same text are the same. */
export function fingerprintOf(content: Content): string {
  const { members, counts } = content;
  return JSON.stringify([...plainOf(content), members, counts && sorted(counts)]);
}

/**
 * Compares a version with a draft's content, by what a response shows of it: computed counts stand
 * among the owner's, and of the members those with a default version, or for a GROUP those below it.
 */
export function matchOfShown(draft: Content, shown: Content): ExistingVersion['match'] {
  if (JSON.stringify(plainOf(draft)) !== JSON.stringify(plainOf(shown))) return 'different';
  const counts = [draft.counts, shown.counts].map((all = {}) =>
    JSON.stringify(sorted(all).filter(([name]) => !isComputedCount(name))),
  );
  if (counts[0] !== counts[1]) return 'different';
  return matchOfMembers(draft, shown.members);
}

/** Members that cannot be seen may be there beside those that can. */
function matchOfMembers(
  { type, members }: Content,
  shown: readonly string[] | undefined,
): ExistingVersion['match'] {
  if (members === undefined) {
    if (shown === undefined) return 'same';
    return type === 'GROUP' ? 'unsure' : 'different';
  }
  const rest = members.map(foldId);
  for (const id of shown ?? []) {
    const at = rest.indexOf(foldId(id));
    if (at < 0) return 'different';
    rest.splice(0, at + 1);
  }
  return 'unsure';
}

function plainOf(content: Content): unknown[] {
  const { type, owner, title, description, source, specText, projectId, groupPath } = content;
  return [type, owner, title, description, source, specText, projectId, groupPath];
}

function sorted(counts: Record<string, number>): [string, number][] {
  return Object.entries(counts).toSorted(([left], [right]) => (left < right ? -1 : 1));
}
