import { searchTextOf } from '#catalog/reading/search-terms.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import { type Session, toRecords } from '../session.ts';

const VERSIONS_AT_ONCE = 500;

type Searched = Pick<
  VersionRecord,
  'serial' | 'id' | 'title' | 'description' | 'owner' | 'groupPath'
>;

const AFTER = `
  SELECT v.serial, a.id, v.title, v.description, v.owner, v.group_path
  FROM catalog_version v JOIN catalog_artifact a ON a.serial = v.artifact_serial
  WHERE v.serial > @serial ORDER BY v.serial LIMIT ${VERSIONS_AT_ONCE}`;

const SET = `
  UPDATE catalog_version SET terms = array_to_tsvector(string_to_array(cut.terms, ' '))
  FROM jsonb_to_recordset(@cut) AS cut (serial bigint, terms text)
  WHERE catalog_version.serial = cut.serial`;

/** Cuts the terms of every version anew. */
export async function cutTerms(session: Session): Promise<void> {
  let serial = 0;
  for (;;) {
    const versions = await session.all<Searched>(AFTER, { serial });
    const last = versions.at(-1);
    if (!last) return;
    const cut = versions.map((version) => ({
      serial: version.serial,
      terms: searchTextOf(version),
    }));
    await session.run(SET, { cut: toRecords(cut) });
    serial = last.serial;
  }
}
