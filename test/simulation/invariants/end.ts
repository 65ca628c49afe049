import { MINUTE } from '#shared/clock.ts';
import { isNamedBy, type Sent, type TrueLead, wholeSeconds } from '../model.ts';
import type { EventRow } from '../world/inspector.ts';
import type { World } from '../world/world.ts';

/** Distance of clocks of which nothing is known. */
const DOUBT_MS = MINUTE + 1000;

/** A day later, when a crawl has met everything: what became of each deletion, and why each claim is there. */
export function checkAtTheEnd(world: World): void {
  const { model, inspector } = world;
  const rows = inspector.events();
  const deletions = model.sent.filter(({ path }) => path === 'deletions');
  for (const sent of deletions) if (sent.receiptId !== undefined) checkDeletion(world, sent, rows);
  for (const number of inspector.claimed()) {
    const lead = model.leads.get(number);
    if (!lead || !deletions.some((sent) => mayMean(world, sent, lead)))
      world.violate(`lead ${number} is claimed, and no deletion means it`);
  }
  for (const { number, comments } of world.tracker.issues()) {
    const bodies = comments.filter(({ author }) => author.login === 'trackport-service');
    if (new Set(bodies.map(({ body }) => body)).size < bodies.length)
      world.violate(`#${number} has the same comment twice`);
  }
}

function mayMean({ model }: World, sent: Sent, lead: TrueLead): boolean {
  const latest = Math.max(sent.askedUntil, sent.acknowledgedAt ?? Infinity) + DOUBT_MS;
  return (
    lead.createdAt <= latest && sent.names.some((name) => isNamedBy(model, lead, name, Infinity))
  );
}

function mustMean({ model }: World, sent: Sent, lead: TrueLead): boolean {
  if (lead.isPullRequest || lead.isGone || model.released.has(lead.number)) return false;
  if (wholeSeconds(lead.createdAt) > wholeSeconds(sent.sentAt)) return false;
  return sent.names.some((name) => isNamedBy(model, lead, name, sent.sentAt));
}

function checkDeletion(world: World, sent: Sent, rows: readonly EventRow[]): void {
  const { model, inspector, violate } = world;
  const claimed = inspector.claimed();
  const meant = [...model.leads.values()].filter((lead) => mustMean(world, sent, lead));
  for (const { number } of meant)
    if (!claimed.has(number))
      violate(
        `lead ${number} is not claimed, though ${sent.type} of ${JSON.stringify(sent.names)} was acknowledged`,
      );
  const events = rows.filter(
    ({ receiptId, eventId }) => receiptId === sent.receiptId && eventId === (sent.eventId ?? null),
  );
  if (events.length === 0) violate(`receipt ${sent.receiptId} lacks an event of ${sent.type}`);
  if (
    meant.length > 0 &&
    events.every(({ outcome }) => outcome === 'UNMATCHED' || outcome === 'IGNORED')
  )
    violate(`receipt ${sent.receiptId} has found nobody, and there is lead ${meant[0]?.number}`);
  for (const event of events) if (event.outcome === 'DONE') checkDone(world, event);
}

/** The tracker shows, or has shown, what the receipt says. */
function checkDone({ model, violate }: World, { id, leadIds, erasure, partner }: EventRow): void {
  for (const text of JSON.parse(leadIds ?? '[]') as string[]) {
    const lead = model.leads.get(Number(text));
    if (!lead) return violate(`event ${id} has lead ${text}, which never was`);
    if (lead.isGone || model.released.has(lead.number)) continue;
    if (erasure === 'complete') violate(`event ${id} says that #${text} is erased`);
    if (erasure === 'incomplete-history' && !lead.wasRedacted)
      violate(`event ${id} says that #${text} was redacted`);
    if (partner !== 'crm-own' && !(lead.wasLabelled && lead.wasClosed))
      violate(`event ${id} is DONE, and #${text} was never relabelled and closed`);
  }
}
