/** A mistake: in a file of `src` one text stands for another. */
export type Bug = { name: string; file: string; from: string; to: string };

/** Each has to be found. What finds none is not a simulation. */
export const bugs: readonly Bug[] = [
  {
    name: 'an answer before the commit',
    file: 'src/adapters/statements.ts',
    from: '    await committed;\n',
    to: '',
  },
  {
    name: 'a claim in a second transaction',
    file: 'src/partners/intake/insert-receipts.ts',
    from: '  await claimNamed(tx, { repositoryId, deletions });\n',
    to: '',
  },
  {
    name: 'a wake-up lost',
    file: 'src/leads/lead-feed/change-signal.ts',
    from: '      wake();\n',
    to: '',
  },
  {
    name: 'a lease without fencing',
    file: 'src/partners/worker/lease-events.ts',
    from: "`id = @event AND lease_token = @leaseToken AND outcome = 'PENDING'`",
    to: "`id = @event AND @leaseToken = @leaseToken AND outcome = 'PENDING'`",
  },
  {
    name: 'an event before the deletion that claimed its lead',
    file: 'src/partners/worker/held-leads.ts',
    from: '!claimed.includes(number)',
    to: 'claimed !== undefined',
  },
  {
    name: 'a stale page served after a newer webhook',
    file: 'src/leads/reading/lead-cache.ts',
    from: "change === 'everything' || pageConcerns(value, change)",
    to: "change === 'everything' && value !== undefined",
  },
  {
    name: 'a webhook that the other instances are not told of',
    file: 'src/leads/index.ts',
    from: '      if (change) instanceChanges.publish(change);\n',
    to: '',
  },
  {
    name: 'a catch-up without its overlap',
    file: 'src/leads/directory/fill-directory.ts',
    from: 'const OVERLAP_MS = MINUTE;',
    to: 'const OVERLAP_MS = -1000;',
  },
  {
    name: 'a batch whose failure drops its neighbours',
    file: 'src/partners/intake/write-receipts.ts',
    from: "batch.length === 1 || isTrackportError(error, 'store-unavailable')",
    to: 'batch.length > 0',
  },
  {
    name: 'a cursor that skips an equal instant',
    file: 'src/leads/lead-feed/stored-changes.ts',
    from: 'AND (position, number) > (@position, @number)',
    to: 'AND position > @position AND @number = @number',
  },
  {
    name: 'an event of a stream that goes on behind all that are read',
    file: 'src/leads/lead-feed/lead-feed.ts',
    from: '    yield toEvent(entry, visibility);\n',
    to: '    yield toEvent({ ...entry, position: next }, visibility);\n',
  },
  {
    name: 'a replay of what is done',
    file: 'src/partners/receipts/receipts.ts',
    from: "const ENDED_BADLY = `outcome IN ('UNMATCHED', 'FAILED')`;\n\n/** Without its payload an event cannot be worked again: nobody knows any more whom it named. */\nconst CAN_BE_REPLAYED = `${ENDED_BADLY} AND payload IS NOT NULL`;",
    to: "const ENDED_BADLY = `outcome IN ('UNMATCHED', 'FAILED', 'DONE')`;\nconst CAN_BE_REPLAYED = ENDED_BADLY;",
  },
  {
    name: 'a replay that comments twice',
    file: 'src/partners/worker/act/act-on-lead.ts',
    from: "  if (found.kind === 'found') return found.isAlone ? 'found-alone' : 'posted';\n  if (found.kind !== 'none') return transientIfGone(found);\n",
    to: '',
  },
];
