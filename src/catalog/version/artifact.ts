/**
 * The words of the catalog: an artifact has versions, and a version is what the API returns.
 * Times are milliseconds since the Unix epoch.
 */
import { boundPointer, type JsonRules } from '#shared/text/json.ts';
import { isLongerThan, isVisible } from '#shared/text/visible.ts';

export const lifecycles = ['DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED'] as const;
export type Lifecycle = (typeof lifecycles)[number];

/** Origins of a spec; the configuration's `catalog.sources` may add more. */
export const coreSources = ['FILE', 'URL', 'GIT', 'INLINE', 'IMPORT'] as const;

/** Kinds that are always known; the configuration's `catalog.types` may add more. */
export const coreTypes = ['API', 'EVENT', 'SCHEMA', 'SERVICE', 'PRODUCT', 'GROUP'] as const;

export const ID_CHARACTERS_MAX = 128;
export const ARTIFACT_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/;
export const VERSION_CHARACTERS_MAX = 64;
export const VERSION = /^[0-9A-Za-z](?:[0-9A-Za-z._-]{0,62}[0-9A-Za-z])?$/;
/** Types and sources. */
export const CAPITAL_WORD = /^[A-Z][A-Z0-9_]{0,63}$/;

export const TITLE_CHARACTERS_MAX = 200;
export const DESCRIPTION_CHARACTERS_MAX = 10_000;
export const OWNER_CHARACTERS_MAX = 200;
export const PROJECT_ID_CHARACTERS_MAX = 200;
export const GROUP_PATH_CHARACTERS_MAX = 512;
const GROUP_PATH_SEGMENTS_MAX = 16;
export const COUNT_KEYS_MAX = 64;
export const COUNT_KEY_CHARACTERS_MAX = 64;
export const MEMBERS_MAX = 1000;
export const VERSIONS_MAX = 1000;
export const SPEC_BYTES_MAX = 5 * 1024 * 1024;
/** Objects and arrays in a spec may nest this deep, the spec itself counted. */
export const SPEC_DEPTH_MAX = 64;

/**
 * Rules for reading a JSON text that holds a spec: one level deeper than the spec may be, with every number
 * digit by digit as it came, and with at most 500,000 values, more than any known API description of
 * 5 MiB has: parsing costs by values, not by bytes.
 */
export const specJsonRules: JsonRules = {
  depthMax: SPEC_DEPTH_MAX + 1,
  valuesMax: 500_000,
  exactNumbers: true,
};

/** A finding about one place of a spec, by validation or by comparison. `pointer` starts with `#/spec`. */
export type Finding = { pointer: string; code: string; detail: string };

/** More findings of a spec are counted, not shown. */
export const FINDINGS_MAX = 100;

/** Content of a version, as its owner writes it. */
export type Content = {
  type: string;
  owner: string;
  title: string;
  description?: string;
  source: string;
  /** The spec as one JSON text, numbers digit by digit as they came. */
  specText?: string;
  projectId?: string;
  groupPath?: string;
  /** Ids, in the owner's order. Absent is not the same as empty: see `Relations`. */
  members?: string[];
  counts?: Record<string, number>;
};

/** One version as it is stored; its spec is read only where it is needed. */
export type VersionRecord = Omit<Content, 'specText'> & {
  workspaceId: string;
  /** As the artifact's first version spelled it. */
  id: string;
  version: string;
  lifecycle: Lifecycle;
  /**
   * Of the spec; empty when it is valid, absent or of a kind that is not validated, and broke nothing
   * when it was published.
   */
  findings: Finding[];
  createdAt: number;
  updatedAt: number;
  publishedAt?: number;
  deprecatedAt?: number;
  sunsetAt?: number;
  /** Never used twice in a store, so that a version made anew under an old name is another one. */
  serial: number;
  /** Counts the changes of this version, from 1. */
  revision: number;
};

/** One version with all that its response says. */
export type VersionView = {
  record: VersionRecord;
  specText?: string;
  members?: Member[];
  /** The owner's, and the computed ones: `versions`, `members`, `members.<TYPE>`. */
  counts: Record<string, number>;
  /** The PUBLISHED default version that takes the place of this one. */
  successor?: string;
  /** The version is the default because it was set as such. */
  isSetDefault: boolean;
  /** This call has made it. */
  isCreated?: true;
};

/** A version as a row of a list. What is left out has any size, and is for one version to show. */
export type ListedVersion = Omit<VersionRecord, 'members' | 'counts' | 'findings'>;

/** Names a version, the default one when `version` is absent. The id is compared without case. */
export type VersionRef = { id: string; version?: string | undefined };

/** One element of `members`: the default version of an artifact. */
export type Member = Pick<VersionRecord, 'id' | 'type' | 'title' | 'lifecycle' | 'groupPath'>;

/** Ids compare without regard to case. */
export function foldId(id: string): string {
  return id.toLowerCase();
}

/**
 * True for one to 16 segments with `/` between them: each with a character that can be seen, no
 * blanks at its ends, no control characters, at most 512 characters in all.
 */
export function isGroupPath(path: string): boolean {
  if (isLongerThan(path, GROUP_PATH_CHARACTERS_MAX)) return false;
  const segments = path.split('/');
  return (
    segments.length <= GROUP_PATH_SEGMENTS_MAX &&
    segments.every((segment) => isVisible(segment) && segment === segment.trim()) &&
    isPrintable(path)
  );
}

/** True when a text has no control characters other than tab and line breaks, and no half of a surrogate pair. */
export function isPrintable(text: string): boolean {
  return text.isWellFormed() && !/[^\P{Cc}\t\n\r]/u.test(text);
}

/** Names of `counts` that Trackport computes itself. */
export function isComputedCount(name: string): boolean {
  return name === 'versions' || name === 'members' || name.startsWith('members.');
}

/** A JSON Pointer as a URI fragment (RFC 6901 §6), bounded as well, for a finding. */
export function fragmentOf(pointer: string): string {
  const encoded = encodeURI(boundPointer(pointer).toWellFormed());
  return boundPointer(`#${encoded.replaceAll('#', '%23')}`);
}
