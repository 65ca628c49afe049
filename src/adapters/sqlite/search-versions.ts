import type { SearchVersions } from '../store/artifact/list.ts';
import { VERSION_COLUMNS } from '../store/artifact/rows.ts';

/** CROSS JOIN puts the full text outermost, whose rows come in order of their rowid. */
const FROM = {
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
export const searchVersions: SearchVersions = (
  session,
  { where, isByArtifact },
  { terms, after, values },
) =>
  session.all(
    `SELECT ${VERSION_COLUMNS} FROM ${FROM[isByArtifact ? 'artifacts' : 'versions']}
       AND found.rowid < @before AND ${where}
     ORDER BY found.rowid DESC LIMIT @limit`,
    {
      ...values,
      match: terms.map((term) => `"${term}"*`).join(' AND '),
      before: after ?? Number.MAX_SAFE_INTEGER,
    },
  );
