import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { parseDocument } from '#catalog/import/import-file.ts';
import { isTrackportError, refuse, systemCodeOf } from '#shared/errors.ts';

import { type FoundFile, IMPORTED, readImportFile } from './import-folder.ts';

/** What the library tells of a file that a document refers to. */
type Reference = { url: string; reference?: string };

/**
 * A document with what it refers to in other files taken into it. References inside it stay
 * references, so that cycles do no harm. Nothing outside the imported folder is read, nor is anything
 * fetched.
 * @throws {validation-failed} for a reference that leads elsewhere, or nowhere
 */
export async function bundleFile(
  document: object,
  found: Pick<FoundFile, 'path' | 'root'>,
): Promise<unknown> {
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
      parseDocument({ name: url, bytes: data as Uint8Array }).document as object,
  };
  const off = { json: false, yaml: false, text: false, binary: false };
  try {
    return await $RefParser.bundle(pathToFileURL(file).href, document as never, {
      resolve: { file: false, http: false, own },
      parse: { ...off, own: parser },
    });
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
