import type { Database } from 'better-sqlite3';
import { searchTextOf } from '#catalog/reading/search-terms.ts';

type SearchedRow = {
  serial: number;
  artifactSerial: number;
  id: string;
  title: string;
  owner: string;
  description: string | null;
  groupPath: string | null;
  isFace: 0 | 1;
};

const VERSIONS_AT_ONCE = 500;

const AFTER = `
  SELECT v.serial, v.artifactSerial, a.id, v.title, v.owner, v.description, v.groupPath,
    v.serial = a.faceSerial AS isFace
  FROM catalog_version v JOIN catalog_artifact a ON a.serial = v.artifactSerial
  WHERE v.serial > ? ORDER BY v.serial LIMIT ${VERSIONS_AT_ONCE}`;

const put = (table: string): string => `INSERT INTO ${table} (rowid, terms) VALUES (?, ?)`;

/** Cuts the terms of every version and artifact, of which none is there yet. */
export function cutTerms(handle: Database): void {
  const after = handle.prepare<[number], SearchedRow>(AFTER);
  const putVersion = handle.prepare<[number, string]>(put('catalog_version_text'));
  const putArtifact = handle.prepare<[number, string]>(put('catalog_artifact_text'));
  let serial = 0;
  for (;;) {
    const rows = after.all(serial);
    for (const row of rows) {
      const text = textOf(row);
      putVersion.run(row.serial, text);
      if (row.isFace === 1) putArtifact.run(row.artifactSerial, text);
    }
    const last = rows.at(-1);
    if (!last) return;
    serial = last.serial;
  }
}

function textOf({ id, title, owner, description, groupPath }: SearchedRow): string {
  return searchTextOf({
    id,
    title,
    owner,
    ...(description !== null && { description }),
    ...(groupPath !== null && { groupPath }),
  });
}
