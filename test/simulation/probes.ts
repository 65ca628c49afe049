import type { Lead } from '#leads/model/lead-out.ts';
import { SECOND } from '#shared/clock.ts';
import { deleteNewcomer } from './people/partners.ts';
import { follow, type Tool } from './people/tools.ts';
import { writeForm } from './people/visitors.ts';
import type { Instance } from './world/instance.ts';
import type { World } from './world/world.ts';

/** All instances know of a change within a second; what follows of it takes another. */
const WITHIN_MS = 2 * SECOND;
const WAIT_MS = 20 * SECOND;

/** In fair weather nobody waits for long: who follows is woken, and who is deleted is claimed. */
export async function probe(world: World, tools: readonly Tool[]): Promise<void> {
  if (world.model.hasLag) return; // what the tracker does not show nobody can tell
  for (const tool of tools) await probeWaking(world, tool);
  for (const tool of tools) await probeOthers(world, tool);
  await probeClaim(world);
}

async function probeWaking(world: World, tool: Tool): Promise<void> {
  const { tracker, scheduler } = world;
  const id = [...tool.copy.keys()].find((number) => tracker.readIssue(Number(number)));
  if (id === undefined || tool.cursor === undefined) return;
  const told = follow(world, tool, { limit: 50, waitMs: WAIT_MS });
  told.catch(() => undefined);
  await world.pause(SECOND);
  const at = scheduler.nowMs();
  world.tell(`a salesperson edits #${id}, and ${tool.name} waits`);
  tracker.editIssue(Number(id), { title: `Edited at ${at}` });
  await told;
  if (scheduler.nowMs() - at > WITHIN_MS)
    world.violate(`${tool.name} was told of #${id} after ${scheduler.nowMs() - at} ms`);
}

/** A webhook comes to one instance. The others have the lead in memory, and show it as it is then. */
async function probeOthers(world: World, tool: Tool): Promise<void> {
  const { tracker, scheduler, instances } = world;
  const id = [...tool.copy.keys()].find((number) => tracker.readIssue(Number(number)));
  if (id === undefined) return;
  const readAt = (instance: Instance): Promise<Lead> =>
    instance.call(async ({ parts, visibilityOf }) => {
      const { value } = await parts.leads.reader.read(id, await visibilityOf(tool.key));
      return value;
    });
  await Promise.all(instances.map(readAt));
  const title = `Edited for all at ${scheduler.nowMs()}`;
  world.tell(`a salesperson edits #${id}, which all instances have shown`);
  tracker.editIssue(Number(id), { title });
  await world.pause(WITHIN_MS);
  for (const instance of instances)
    if ((await readAt(instance)).title !== title)
      world.violate(
        `${instance.owner.name} shows an old state of lead ${id}: another was told of it`,
      );
}

/** Nobody has told of the lead yet: it is looked for. */
async function probeClaim(world: World): Promise<void> {
  const { scheduler, weather, inspector } = world;
  weather.webhookLost = 1;
  const { number, person, isPullRequest } = writeForm(world, -1);
  weather.webhookLost = 0;
  await world.pause(SECOND);
  await deleteNewcomer(world, person.email);
  await world.pause(WITHIN_MS);
  if (!isPullRequest && !inspector.claimed().has(number))
    world.violate(
      `lead ${number} is not claimed ${scheduler.nowMs()} ms, long after it was deleted`,
    );
}
