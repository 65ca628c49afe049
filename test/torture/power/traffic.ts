import { signed } from '../people.ts';
import type { Acknowledged, World } from './world.ts';

const SENDERS = 8;

type Delivery = Pick<Acknowledged, 'claimed'> & { path: string; body: object };

/**
 * Sends so many deletions and events at most, as fast as they are taken, until the service is gone. False when it is not:
 * then it has not asked the disk for anything, or has not heard what that said.
 */
export async function sendUntilGone(world: World, url: string, most: number): Promise<boolean> {
  const end = world.sent + most;
  let isGone = false;
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (!isGone && world.sent < end) isGone = !(await send(world, url, nextDelivery(world)));
    }),
  );
  return isGone;
}

/** Every fourth deletes a lead: by its person, or by itself. */
function nextDelivery(world: World): Delivery {
  const { sent, bystanders, undeleted } = world;
  world.sent += 1;
  const eventId = `delivery-${sent}`;
  const lead = sent % 4 === 0 ? undeleted.pop() : undefined;
  if (lead) {
    const named = sent % 8 === 0 ? { email: lead.email } : { leadId: String(lead.number) };
    return { path: 'deletions', body: { eventId, ...named }, claimed: [lead.number] };
  }
  if (sent % 4 === 1) {
    const leadId = String(bystanders[sent % bystanders.length]);
    return { path: 'events', body: { eventType: 'noted', eventId, leadId }, claimed: [] };
  }
  return { path: 'deletions', body: { eventId, email: `${eventId}@cut.example` }, claimed: [] };
}

/** False when nobody is there any more. What was not acknowledged is not sent again: it may be there or not. */
async function send(
  { acknowledged }: World,
  url: string,
  { path, body, claimed }: Delivery,
): Promise<boolean> {
  const address = `${url}/api/v1/webhooks/partners/crm-one/${path}`;
  const text = JSON.stringify(body);
  try {
    const headers = signed('crm-one', address, text);
    const answer = await fetch(address, { method: 'POST', headers, body: text });
    const { id } = (await answer.json()) as { id: string };
    if (answer.status === 202) acknowledged.push({ receiptId: id, claimed });
    return true;
  } catch {
    return false;
  }
}
