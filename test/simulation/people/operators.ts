import { releaseClaim } from '#partners/receipts/release-claim.ts';
import type { Origin } from '#shared/audit.ts';
import type { World } from '../world/world.ts';
import type { Tool } from './tools.ts';

const origin: Origin = { actor: { kind: 'cli', subject: 'operator' } };

/** Gives leads back, replays what ended badly, takes keys away and changes grants. */
export async function beOperator(
  world: World,
  tools: readonly Tool[],
  acts: number,
  pauseMs: number,
): Promise<void> {
  for (let act = 0; act < acts && !world.isOver; act += 1) {
    await world.pause(world.random() * pauseMs);
    const draw = world.random();
    // The store may be away, or the instance be cut off: the operator is told, and goes on.
    const work =
      draw < 0.25
        ? release(world)
        : draw < 0.6
          ? replay(world)
          : draw < 0.8
            ? changeGrants(world, tools)
            : renewKey(world, tools);
    await work.catch(() => undefined);
  }
}

const CLAIMS_OF = 'SELECT event FROM claim WHERE number = ? AND released_at IS NULL';

async function release(world: World): Promise<void> {
  const number = world.pick([...world.inspector.claimed()]);
  if (number === undefined) return;
  world.model.released.add(number);
  for (const { event } of world.inspector.all<{ event: number }>(CLAIMS_OF, number))
    world.model.withdrawn.add(`${event} ${number}`);
  world.tell(`an operator releases #${number}`);
  await world.call(({ parts }) => releaseClaim(parts.claimedLeads, String(number), origin));
}

async function replay(world: World): Promise<void> {
  const bad = world.inspector
    .events()
    .filter(({ outcome }) => outcome === 'UNMATCHED' || outcome === 'FAILED');
  const some = world.pick(bad) ?? world.pick(world.inspector.events());
  if (!some) return;
  for (const sent of world.model.sent)
    if (sent.receiptId === some.receiptId) sent.askedUntil = Infinity;
  world.tell(`an operator replays receipt of event ${some.id} (${some.outcome})`);
  await world.call(({ parts }) => parts.partners.receipts.replay(some.receiptId, origin));
}

async function changeGrants(world: World, tools: readonly Tool[]): Promise<void> {
  const tool = world.pick(tools);
  if (tool?.consumerId === undefined) return;
  const { consumerId: id } = tool;
  const labels = world.random() < 0.5 ? ['eu'] : undefined;
  world.tell(`an operator grants ${tool.name} ${labels ? 'eu alone' : 'everything'}`);
  await world.call(({ parts }) =>
    parts.access.consumers.replaceGrants(
      { id, grants: [{ action: 'leads:read', ...(labels && { labels }) }] },
      origin,
    ),
  );
}

async function renewKey(world: World, tools: readonly Tool[]): Promise<void> {
  const tool = world.pick(tools);
  if (tool?.consumerId === undefined) return;
  const { consumerId: id } = tool;
  const { issued } = await world.call(({ parts }) => parts.access.keys.add({ id }, origin));
  world.tell(`an operator gives ${tool.name} another key`);
  const keyId = tool.key.split('_')[1] ?? '';
  tool.key = issued.key.reveal();
  await world.call(({ parts }) => parts.access.keys.revoke({ id, keyId }, origin));
}
