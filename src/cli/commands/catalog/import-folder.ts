import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import {
  finishBundle,
  isDataPlace,
  withMappedReferences,
} from '#catalog/import/bundled-document.ts';
import { type ImportFile, parseDocument } from '#catalog/import/import-file.ts';
import { isTrackportError, refuse, systemCodeOf, TrackportError } from '#shared/errors.ts';

import { UsageError } from '../../command.ts';

const IMPORTED = /\.(?:ya?ml|json)$/i;
const SKIPPED_FOLDERS = new Set(['node_modules']);
/** Pretty-printed, a spec of 5 MiB can take several times its compact size. */
const FILE_BYTES_MAX = 32 * 1024 * 1024;

/** A file by the name that people see: below the imported folder, without that folder. */
export type FoundFile = { shown: string; path: string; root?: string; id?: string };

/**
 * The files to import, sorted: the one that is named, or every `.yaml`, `.yml` and `.json` below a
 * folder. Hidden names, `node_modules`, symbolic links and what a glob excludes are left out.
 * @throws {UsageError} when there is nothing, or a folder that cannot be read
 */
export function listImportFiles(target: string, exclude: readonly string[] = []): FoundFile[] {
  if (!statOf(target).isDirectory()) return [{ shown: target, path: target }];
  const isExcluded = (shown: string): boolean =>
    exclude.some((glob) => path.matchesGlob(shown, glob));
  const files = walk(target)
    .map((file) => ({ shown: path.relative(target, file), path: file, root: target }))
    .filter(({ shown }) => !isExcluded(shown));
  if (files.length === 0)
    throw new UsageError(
      `${target} holds no .yaml, .yml or .json file. Hidden names, node_modules, what --exclude names and symbolic links are left out.`,
    );
  return files;
}

/**
 * Files with the ids that they are to have, each `FILE=ID`, or an id alone for the only file.
 * @throws {UsageError} for a file that is not among them
 */
export function withIds(files: FoundFile[], ids: readonly string[]): FoundFile[] {
  const named = new Map(
    ids.map((given) => {
      const at = given.lastIndexOf('=');
      const [only] = files;
      if (at < 0 && files.length === 1 && only) return [only.shown, given];
      const shown = path.normalize(given.slice(0, Math.max(0, at)));
      if (at > 0 && files.some((file) => file.shown === shown)) return [shown, given.slice(at + 1)];
      throw new UsageError(
        `--id ${given} names no file of these: give FILE=ID, with FILE as it is listed, such as ${only?.shown}=ID.`,
      );
    }),
  );
  return files.map((file) => ({ ...file, id: named.get(file.shown) }));
}

function statOf(target: string) {
  try {
    return statSync(target);
  } catch {
    throw new UsageError(`${target} cannot be found or read.`);
  }
}

function walk(folder: string): string[] {
  return entriesIn(folder).flatMap((entry) => {
    const { name } = entry;
    const file = path.join(folder, name);
    if (name.startsWith('.')) return [];
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(name) ? [] : walk(file);
    return entry.isFile() && IMPORTED.test(name) ? [file] : [];
  });
}

/** A folder that cannot be looked into would leave files out without a word. */
function entriesIn(folder: string): Dirent[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  } catch (error) {
    throw new UsageError(`${folder} cannot be read (${systemCodeOf(error) ?? 'unknown failure'}).`);
  }
}

/** @throws {payload-too-large} for more than 32 MiB, and the file system's own errors */
export function readImportFile(file: string): ImportFile {
  const { size } = statSync(file);
  if (size > FILE_BYTES_MAX)
    throw new TrackportError('payload-too-large', {
      detail: `The file has more than ${FILE_BYTES_MAX} bytes (32 MiB).`,
    });
  return { name: path.basename(file), bytes: readFileSync(file) };
}

/** A file that a document refers to, as the library tells of it. */
type Reference = { url: string; reference?: string };

/**
 * A document with what it refers to in other files taken into it. References inside it stay
 * references, so that cycles do no harm. Nothing outside the imported folder is read, nor is anything
 * fetched.
 * @throws {validation-failed} for a reference that leads elsewhere, or nowhere
 */
export async function bundleFile(document: object, found: FoundFile): Promise<unknown> {
  const file = realpathSync(found.path);
  const root = found.root === undefined ? path.dirname(file) : realpathSync(found.root);
  const { $RefParser } = await import('@apidevtools/json-schema-ref-parser');
  const own = {
    canRead: true,
    read: (reference: Reference) => readReference(reference, root),
  };
  const parser = {
    canParse: true,
    allowEmpty: true,
    parse: ({ url, data }: { url: string; data: unknown }) =>
      withMappedReferences(
        parseDocument({ name: url, bytes: data as Uint8Array }).document as object,
      ),
  };
  const off = { json: false, yaml: false, text: false, binary: false };
  const isData = (pointer: string, value?: unknown): boolean =>
    isDataPlace(document as Record<string, unknown>, pointer, value);
  try {
    withMappedReferences(document);
    const bundled = await $RefParser.bundle(pathToFileURL(file).href, document as never, {
      resolve: { file: false, http: false, own },
      parse: { ...off, own: parser },
      bundle: { excludedPathMatcher: isData },
      resolveExcludedPathMatcher: isData,
    });
    return finishBundle(bundled as unknown as Record<string, unknown>);
  } catch (error) {
    const { cause, message } = error as Error;
    if (isTrackportError(cause)) throw cause;
    refuseReference(`A reference cannot be followed: ${message}`);
  }
}

function readReference({ url, reference = url }: Reference, root: string): Uint8Array {
  const named = `The reference "${reference}"`;
  if (!url.startsWith('file:///') || /^([a-z][a-z\d+.-]*:|\/\/)/i.test(reference))
    refuseReference(`${named} is no relative path; nothing is fetched.`);
  const file = fileURLToPath(url);
  const outside = `${named} leads out of the imported folder.`;
  if (!isBelow(file, root)) refuseReference(outside);
  if (!IMPORTED.test(file)) refuseReference(`${named} is no .yaml, .yml or .json file.`);
  try {
    if (isBelow(realpathSync(file), root)) return readImportFile(file).bytes;
  } catch (error) {
    if (isTrackportError(error)) throw error;
    refuseReference(`${named} cannot be read (${systemCodeOf(error) ?? 'unknown failure'}).`);
  }
  return refuseReference(outside);
}

function isBelow(file: string, root: string): boolean {
  return file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

function refuseReference(detail: string): never {
  return refuse([{ pointer: '#/spec', code: 'reference', detail }]);
}
