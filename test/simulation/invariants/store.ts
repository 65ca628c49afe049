import { PERSONAL } from '../people/bodies.ts';
import type { World } from '../world/world.ts';

/** Rows that refer to others without a foreign key. */
const ORPHANS = {
  'a claim without its event': 'SELECT id FROM claim WHERE event NOT IN (SELECT id FROM event)',
  'a name of no lead': `
    SELECT number FROM directory_key WHERE NOT EXISTS (SELECT 1 FROM directory_lead
      WHERE directory_lead.repository_id = directory_key.repository_id
        AND directory_lead.number = directory_key.number)`,
  'a receipt whose status is not that of its events': `
    SELECT id FROM receipt WHERE status <> CASE
      WHEN EXISTS (SELECT 1 FROM event WHERE receipt = number AND outcome = 'PENDING') THEN 'ACCEPTED'
      WHEN EXISTS (SELECT 1 FROM event WHERE receipt = number AND outcome = 'FAILED') THEN 'FAILED'
      WHEN EXISTS (SELECT 1 FROM event WHERE receipt = number AND outcome IN ('UNMATCHED', 'REJECTED')) THEN 'UNMATCHED'
      ELSE 'PROCESSED' END`,
  'a payload of an event that is done': `
    SELECT id FROM event WHERE outcome IN ('DONE', 'IGNORED') AND payload IS NOT NULL`,
  'an event that is leased, and has ended': `
    SELECT id FROM event WHERE outcome <> 'PENDING' AND lease_token IS NOT NULL`,
};

/** No row without its parent, and nothing of a person in plain. */
export function checkStore({ inspector, violate, store }: World): void {
  for (const [what, sql] of Object.entries({ ...ORPHANS, ...store.orphans }))
    for (const row of inspector.all(sql)) violate(`the store has ${what}: ${JSON.stringify(row)}`);
  for (const place of store.placesOf(PERSONAL)) violate(`${place} has personal data`);
}
