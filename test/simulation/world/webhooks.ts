import type { TrackerChange } from '#sandbox/tracker/world/model.ts';
import { learn } from '../invariants/answers.ts';
import type { TrueLead } from '../model.ts';
import { CutOff } from './instance.ts';
import { signWebhook, type Webhook } from './tracker.ts';
import type { World } from './world.ts';

/** Webhooks are lost, come late, in any order, and more than once. */
export function deliver(world: World, change: TrackerChange, payload: object): void {
  const { scheduler, weather } = world;
  if (scheduler.random() < weather.webhookLost)
    return world.tell(`the webhook ${nameOf(change)} is lost`);
  const webhook = signWebhook(change.event, payload);
  const lead = change.issue && world.model.leads.get(change.issue.number);
  const told = lead?.state;
  const times = scheduler.random() < weather.webhookRepeated ? 2 : 1;
  for (let time = 0; time < times; time += 1) {
    const isLate = scheduler.random() < weather.webhookLate;
    scheduler.add({
      owner: scheduler.outside,
      lane: `webhook ${scheduler.steps()} ${time} ${nameOf(change)} ${scheduler.random()}`,
      what: `the webhook ${nameOf(change)} is sent`,
      at:
        scheduler.nowMs() + (isLate ? Math.floor(scheduler.random() * weather.webhookDelayMs) : 1),
      run: () => {
        if (lead && told) noteTold(lead, told);
        void post(world, change, webhook);
      },
    });
  }
}

/** An instance may meet it as late as it likes: behind a state that follows in the same second, too. */
function noteTold(lead: TrueLead, told: TrueLead['state']): void {
  told.wasTold = true;
  if (told !== lead.state && told.second === lead.state.second) lead.wasToldBack = true;
}

function nameOf({ event, action, issue }: TrackerChange): string {
  return `${event}.${action}${issue ? ` #${issue.number}` : ''}`;
}

/** As the route does. The tracker does not try again. */
async function post(world: World, change: TrackerChange, webhook: Webhook): Promise<void> {
  world.model.changedAtMs = world.scheduler.nowMs();
  try {
    await world.call(async ({ parts: { trackerWebhook: route } }, instance) => {
      const event = await route.verify(webhook);
      if (event.kind === 'ignored') return;
      setImmediate(() => {
        route.onTrackerEvent(event);
        if (change.issue) learn(instance, change.issue, world.scheduler.steps());
      });
    });
  } catch (error) {
    if (!(error instanceof CutOff)) world.violate(`a webhook was refused: ${String(error)}`);
  }
}
