import { type SearchedFields, searchTextOf } from './search-terms.ts';
import type { Statements, Values } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import type { ListedVersion } from '../version/artifact.ts';
import { LISTED_COLUMNS, VERSIONS } from '../version/read-version.ts';

/** The versions that a list looks through, as conditions of `catalog_version v`. */
export type Range = {
  where: string;
  /** The column that a list is in the order of, newest first. */
  position: string;
  isByArtifact: boolean;
};

export type ListedRow = ListedVersion & { artifactSerial: number };

/**
 * The page of a range whose versions have all terms; how full text is read is the engine's own. `values` are
 * those of the range, and `limit`.
 */
export type SearchVersions = (
  db: Statements,
  range: Range,
  query: { terms: readonly string[]; limit: number; after?: number; values: Values },
) => Promise<ListedRow[]>;

/** CROSS JOIN puts the full text outermost, whose rows come in order of their rowid. */
const FULL_TEXT_OF = {
  artifacts: `
    catalog_artifact_text found
    CROSS JOIN catalog_artifact a ON a.serial = found.rowid
    CROSS JOIN catalog_version v ON v.serial = a.listed_serial
    WHERE catalog_artifact_text MATCH @match`,
  versions: `
    catalog_version_text found
    CROSS JOIN catalog_version v ON v.serial = found.rowid
    CROSS JOIN catalog_artifact a ON a.serial = v.artifact_serial
    WHERE catalog_version_text MATCH @match`,
};

/** Terms are letters and digits alone, so that none of them can end its quotes. */
export const searchSqlite: SearchVersions = (
  db,
  { where, isByArtifact },
  { terms, after, values },
) =>
  db.all(
    `SELECT ${LISTED_COLUMNS}, v.artifact_serial FROM ${FULL_TEXT_OF[isByArtifact ? 'artifacts' : 'versions']}
       AND found.rowid < @before AND ${where}
     ORDER BY found.rowid DESC LIMIT @limit`,
    {
      ...values,
      match: terms.map((term) => `"${term}"*`).join(' AND '),
      before: after ?? Number.MAX_SAFE_INTEGER,
    },
  );

const FULL_TEXT = 'v.terms @@ @search::tsquery';

/** Number of the newest that are looked through for words that many versions may have. */
const RECENT = 2000;

/**
 * A search's words are those of many versions or of few, and the server cannot know which: among the
 * newest many are found soon, and few are found by the index of terms, which knows no order. Terms are
 * letters and digits alone, so that none of them can end its quotes.
 */
export const searchPostgres: SearchVersions = async (
  db,
  { where, position },
  { terms, limit, values },
) => {
  const page = `ORDER BY ${position} DESC LIMIT @limit`;
  const search = terms.map((term) => `'${term}':*`).join(' & ');
  const among = (found: string): Promise<ListedRow[]> =>
    db.all(
      `WITH found AS MATERIALIZED (${found}),
         page AS MATERIALIZED (SELECT v.serial FROM found AS v ${page})
       SELECT ${LISTED_COLUMNS}, v.artifact_serial FROM ${VERSIONS}
       WHERE v.serial = ANY(ARRAY(SELECT serial FROM page)) ${page}`,
      { ...values, search },
    );
  const recent = await among(`
    SELECT v.serial, v.artifact_serial
    FROM (SELECT v.serial, v.artifact_serial, v.terms FROM catalog_version v WHERE ${where}
      ORDER BY ${position} DESC LIMIT ${RECENT}) AS v
    WHERE ${FULL_TEXT}`);
  if (recent.length === limit) return recent;
  return among(
    `SELECT v.serial, v.artifact_serial FROM catalog_version v WHERE ${where} AND ${FULL_TEXT}`,
  );
};

const VERSIONS_AT_ONCE = 500;

type Searched = SearchedFields & { serial: number };

const AFTER = `
  SELECT v.serial, a.id, v.title, v.description, v.owner, v.group_path
  FROM catalog_version v JOIN catalog_artifact a ON a.serial = v.artifact_serial
  WHERE v.serial > @serial ORDER BY v.serial LIMIT ${VERSIONS_AT_ONCE}`;

const SET = `
  UPDATE catalog_version SET terms = array_to_tsvector(string_to_array(cut.terms, ' '))
  FROM jsonb_to_recordset(@cut) AS cut (serial bigint, terms text)
  WHERE catalog_version.serial = cut.serial`;

/** Cuts the terms of every version anew. */
export async function cutTerms(db: Statements): Promise<void> {
  let serial = 0;
  for (;;) {
    const versions = await db.all<Searched>(AFTER, { serial });
    const last = versions.at(-1);
    if (!last) return;
    const cut = versions.map((version) => ({
      serial: version.serial,
      terms: searchTextOf(version),
    }));
    await db.run(SET, { cut: toRecords(cut) });
    serial = last.serial;
  }
}
