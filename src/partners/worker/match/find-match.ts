import { readDirectoryView } from '#leads/directory/directory-view.ts';
import { type EventTimes, type Match, matchLeads, type MatchName } from '#leads/directory/match.ts';
import type { Repository } from '../held-leads.ts';

/**
 * `matchLeads` over the lead directory as it is now. `unknownLeadId`: the number that is among the names and that the
 * directory does not know. @throws {store-unavailable}
 */
export async function findMatch(
  { db, repository }: Repository,
  names: readonly MatchName[],
  times: EventTimes,
): Promise<Match & { unknownLeadId?: number }> {
  const directory = await readDirectoryView(db, repository, names);
  const leadId = names.find((name) => name.kind === 'lead-id');
  const isUnknown = leadId && !directory.has(leadId.number);
  return {
    ...matchLeads(names, directory, times),
    ...(isUnknown && { unknownLeadId: leadId.number }),
  };
}
