import type { EventRow } from '../world/inspector.ts';
import type { Owner } from '../world/scheduler.ts';
import type { World } from '../world/world.ts';

/**
 * While a deletion stands, whatever the directory knows by its one name, and was there before, is claimed, or was
 * given back. Of several names the first that finds a lead decides, which is looked at in the end.
 */
const STANDS_UNCLAIMED = `
  SELECT named.event, named.number FROM (
    SELECT event, place, directory_key.repository_id, directory_key.number
    FROM deletion_name JOIN directory_key ON directory_key.key_hash = deletion_name.key_hash
    UNION ALL
    SELECT event, place, repository_id, number FROM deletion_name WHERE kind = 'lead-id') AS named
  JOIN event ON event.id = named.event
  JOIN directory_lead AS lead ON lead.repository_id = named.repository_id AND lead.number = named.number
  WHERE lead.created_at <= event.created_before AND NOT lead.is_moved
    AND NOT EXISTS (SELECT 1 FROM deletion_name AS other
      WHERE other.event = named.event AND other.place <> named.place)
    AND NOT EXISTS (SELECT 1 FROM claim WHERE claim.number = named.number
      AND (claim.released_at IS NULL OR claim.event = named.event))`;

/** Looks at what an instance has just committed. */
export function createCommitCheck(world: World): (by: Owner) => void {
  const { inspector, model, scheduler } = world;
  let before = new Map<number, EventRow>();
  const holders = new Map<string, Owner>();
  let claimed = new Set<number>();

  const noteClaims = (): void => {
    const now = inspector.claimed();
    const step = scheduler.steps();
    for (const number of now)
      if (!claimed.has(number)) model.leads.get(number)?.claims.push({ from: step });
    for (const number of claimed) {
      if (now.has(number)) continue;
      const last = model.leads.get(number)?.claims.at(-1);
      if (last) last.until = step;
    }
    claimed = now;
  };
  const noteEnds = (rows: readonly EventRow[]): void => {
    const ids = new Set(rows.map(({ receiptId }) => receiptId));
    for (const { receiptId, outcome } of rows) if (outcome === 'PENDING') ids.delete(receiptId);
    for (const { receiptId } of rows)
      if (!ids.has(receiptId)) model.ended.delete(receiptId);
      else if (!model.ended.has(receiptId)) model.ended.set(receiptId, scheduler.steps());
  };
  const checkEvent = (by: Owner, row: EventRow, former: EventRow | undefined): void => {
    if (row.leaseToken !== null && row.leaseToken !== former?.leaseToken) {
      holders.set(row.leaseToken, by);
      const other = former?.leaseToken && holders.get(former.leaseToken);
      if (other && other !== by && (former.leaseUntil ?? 0) > scheduler.now())
        world.violate(`${by.name} has leased event ${row.id}, which ${other.name} has`);
    }
    if (!former || row.outcome === former.outcome) return;
    const holder = former.leaseToken === null ? undefined : holders.get(former.leaseToken);
    if (former.outcome === 'PENDING' && holder !== by)
      world.violate(
        `${by.name} ended event ${row.id} (${row.outcome}), which ${holder?.name ?? 'nobody'} has leased`,
      );
    if (former.outcome === 'DONE' && row.path === 'events' && row.eventId !== null)
      world.violate(`event ${row.id} was DONE, and is ${row.outcome} now`);
  };
  return (by) => {
    noteClaims();
    const rows = new Map(inspector.events().map((row) => [row.id, row]));
    noteEnds([...rows.values()]);
    for (const [id, row] of rows) checkEvent(by, row, before.get(id));
    for (const id of before.keys())
      if (!rows.has(id)) world.violate(`event ${id} is gone from the store`);
    before = rows;
    for (const { event, number } of inspector.all<{ event: number; number: number }>(
      STANDS_UNCLAIMED,
    ))
      // A replay of what was released takes the release back, and the worker claims.
      if (!model.withdrawn.has(`${event} ${number}`))
        world.violate(
          `lead ${number} is not claimed, though the deletion of event ${event} names it`,
        );
  };
}
