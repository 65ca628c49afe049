import { refuse } from '#shared/errors.ts';
import { checkFields } from '#shared/field-problems.ts';
import { isRecord, parseJsonText } from '#shared/text/json.ts';
import { isVisible } from '#shared/text/visible.ts';
import { foldText } from '../reading/search-terms.ts';
import { specKindOf } from '../spec/places.ts';
import { jsonOfYaml, refuseYaml } from '../spec/spec-text.ts';
import {
  DESCRIPTION_CHARACTERS_MAX,
  ID_CHARACTERS_MAX,
  OWNER_CHARACTERS_MAX,
  specJsonRules,
  TITLE_CHARACTERS_MAX,
  VERSION_CHARACTERS_MAX,
} from '../version/artifact.ts';
import { type Draft, draftIn } from '../version/content-check.ts';

/** A file as it was found: its name without folders, and its bytes. */
export type ImportFile = {
  name: string;
  bytes: Uint8Array;
  /** In the place of the one that it has, or that is made of its title. */
  id?: string;
  /**
   * Takes what a document refers to in other files into it.
   * @throws {validation-failed} for what cannot be taken
   */
  bundle?: (document: object) => Promise<unknown>;
};

/** The document of a file, and its JSON text. */
export type ParsedFile = { document: unknown; json: Uint8Array };

/** A draft that always says its version, so that a second import finds the first. */
export type ImportedDraft = Draft & { version: string };

/** Form of a file: an OpenAPI or AsyncAPI document, or the fields of an artifact. */
export type ImportForm = 'document' | 'artifact';

const FIRST_VERSION = '1.0.0';
/** Behind a digit or a word of a version, as in `1.2.3-rc.1+5f3c2e1`. */
const BUILD_METADATA = /(?<=^\s*[vV]?\d[0-9A-Za-z._-]*)\s*\+/;
const OWNER_UNKNOWN = 'unknown';
/** More of what stands in place of a version is not looked at. */
const VERSION_SOURCE_CHARACTERS_MAX = 256;

/**
 * Reads one YAML or JSON file.
 * @throws {malformed-json} when it is neither one YAML document nor one JSON text
 * @throws {payload-too-large} for more than 500,000 values
 */
export function parseDocument({ name, bytes }: ImportFile): ParsedFile {
  const json = /\.json$/i.test(name) ? bytes : jsonOfYaml(textOfBytes(bytes), refuseFile);
  return { json, document: parseJsonText(json, specJsonRules) };
}

/**
 * Makes a draft of one file. An OpenAPI document becomes an artifact of type API, an AsyncAPI
 * document one of type EVENT: the id is made from `info.title` (else the file's name), the version
 * from `info.version` (else 1.0.0), the owner is `info.x-owner`, else the name in `info.contact`,
 * else `unknown`. Everything else must be an artifact file: the fields of a create.
 * @throws {validation-failed} when it is no artifact, and as `parseDocument` does
 */
export function parseImportFile(
  file: ImportFile,
  { document, json }: ParsedFile = parseDocument(file),
): { form: ImportForm; draft: ImportedDraft } {
  const ownId = file.id === undefined ? {} : { id: file.id };
  if (specKindOf(document) === 'other')
    return {
      form: 'artifact',
      draft: { version: FIRST_VERSION, ...toArtifactDraft(document), ...ownId },
    };
  const draft = toSpecDraft(document as Record<string, unknown>, file.name);
  return { form: 'document', draft: { ...draft, version: versionOf(document, json), ...ownId } };
}

function textOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return refuseFile('it is not in UTF-8');
  }
}

/** @throws {malformed-json} always */
const refuseFile = (reason: string): never => refuseYaml('The file', reason);

function toSpecDraft(document: Record<string, unknown>, fileName: string): Draft {
  const info = objectOf(document['info']);
  const baseName = fileName.replace(/\.[^.]+$/, '');
  const title = lineOf(info['title'], TITLE_CHARACTERS_MAX) ?? baseName;
  const description = cleanText(info['description'], DESCRIPTION_CHARACTERS_MAX);
  return {
    id: toId(title) ?? toId(baseName) ?? '',
    type: specKindOf(document) === 'openapi' ? 'API' : 'EVENT',
    owner:
      lineOf(info['x-owner'], OWNER_CHARACTERS_MAX) ??
      lineOf(objectOf(info['contact'])['name'], OWNER_CHARACTERS_MAX) ??
      OWNER_UNKNOWN,
    title,
    description,
    source: 'FILE',
    specText: JSON.stringify(document),
  };
}

/** `Pet Store API (v2)` → `pet-store-api-v2`; undefined when nothing is left. */
function toId(text: string): string | undefined {
  const id = foldText(text)
    .replaceAll(/[^a-z0-9._]+/g, '-')
    .slice(0, ID_CHARACTERS_MAX);
  return trimToWord(id) || undefined;
}

/** A number is taken as it is written: 1.10 is another version than 1.1, though no other number. */
function versionOf(document: unknown, json: Uint8Array): string {
  const version = versionIn(document);
  if (typeof version !== 'number') return toVersion(version);
  const asWritten = (key: string, value: unknown, context?: { source?: string }): unknown =>
    key === 'version' && typeof value === 'number' ? context?.source : value;
  return toVersion(versionIn(JSON.parse(new TextDecoder().decode(json), asWritten)));
}

function versionIn(document: unknown): unknown {
  return objectOf(objectOf(document)['info'])['version'];
}

/**
 * `2024 spring` → `2024-spring`; `1.0.0+build.7` → `1.0.0`: build metadata tells no versions apart (SemVer 2, §10), and
 * behind a hyphen it would make a pre-release.
 */
function toVersion(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
  const [plain = ''] = text.slice(0, VERSION_SOURCE_CHARACTERS_MAX).split(BUILD_METADATA);
  const version = plain.replaceAll(/[^0-9A-Za-z._-]+/g, '-');
  return trimToWord(trimToWord(version).slice(0, VERSION_CHARACTERS_MAX)) || FIRST_VERSION;
}

function trimToWord(text: string): string {
  return text.replace(/^[^0-9A-Za-z]+/, '').replace(/[^0-9A-Za-z]+$/, '');
}

function objectOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function lineOf(value: unknown, max: number): string | undefined {
  return cleanText(typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : value, max);
}

/** Shortened, without control characters; undefined when nothing that can be seen is left. */
function cleanText(value: unknown, max: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.replaceAll(/[^\P{Cc}\t\n\r]/gu, '').trim();
  const short = text.slice(0, max).toWellFormed().trim();
  return isVisible(short) ? short : undefined;
}

/** True for a document that is meant as an artifact; schemas have a type and a title as well. */
export function isArtifact(document: unknown): document is Record<string, unknown> {
  return isRecord(document) && ('owner' in document || ('id' in document && 'type' in document));
}

/**
 * The draft that an artifact file holds: the fields of a create, `source` being FILE unless it says
 * otherwise. Which types and sources are known, `checkDraft` looks at.
 * @throws {validation-failed} with a pointer for each wrong field
 */
function toArtifactDraft(document: unknown): Draft {
  if (!isArtifact(document))
    refuse([
      {
        pointer: '#',
        code: 'unknown-format',
        detail: 'The file is no OpenAPI or AsyncAPI document, and no artifact.',
      },
    ]);
  const checked = checkFields(draftIn, 'body', { source: 'FILE', ...document });
  if ('problems' in checked) refuse(checked.problems);
  const { spec, ...fields } = checked.value;
  return { ...fields, specText: spec && JSON.stringify(spec) };
}
