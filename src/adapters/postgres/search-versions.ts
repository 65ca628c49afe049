import { type SearchVersions, VERSIONS } from '../store/artifact/list.ts';
import { VERSION_COLUMNS, type VersionRow } from '../store/artifact/rows.ts';

const FULL_TEXT = 'v.terms @@ @search::tsquery';

/** So many of the newest are looked through for words that many versions may have. */
const RECENT = 2000;

/**
 * A search's words are those of many versions or of few, and the server cannot know which: among the
 * newest many are found soon, and few are found by the index of terms, which knows no order. Terms are
 * letters and digits alone, so that none of them can end its quotes.
 */
export const searchVersions: SearchVersions = async (
  session,
  { where, position },
  { terms, limit, values },
) => {
  const page = `ORDER BY ${position} DESC LIMIT @limit`;
  const search = terms.map((term) => `'${term}':*`).join(' & ');
  const among = (found: string): Promise<VersionRow[]> =>
    session.all(
      `WITH found AS MATERIALIZED (${found}),
         page AS MATERIALIZED (SELECT v.serial FROM found AS v ${page})
       SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
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
