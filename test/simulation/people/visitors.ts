import { type TrueLead, wholeSeconds } from '../model.ts';
import type { World } from '../world/world.ts';
import { formOf, personAt } from './bodies.ts';

const PEOPLE = 6;

/** Writes forms, more than one of them at times. */
export async function beVisitors(world: World, acts: number, pauseMs: number): Promise<void> {
  for (let act = 0; act < acts && !world.isOver; act += 1) {
    await world.pause(world.random() * pauseMs);
    writeForm(world, act);
  }
}

/** Those that there were before. */
export function writeFormsBefore(world: World, count: number): void {
  for (let act = 0; act < count; act += 1) {
    writeForm(world, act);
    const lead = [...world.model.leads.values()].at(-1);
    if (lead?.approvedSince !== undefined) lead.approvedSince = -Infinity;
  }
}

export function writeForm(
  { random, tracker, model, scheduler, tell }: World,
  act: number,
): TrueLead {
  const person = personAt(Math.floor(random() * PEOPLE));
  const isOfPortal = random() < 0.7;
  const isPullRequest = random() < 0.05;
  const isAtOnce = random() < 0.7;
  const issue = {
    ...formOf(person, isOfPortal, `Request ${act}`),
    isPullRequest,
    labels: [
      ...(isAtOnce ? ['approved'] : []),
      ...(random() < 0.5 ? ['eu'] : []),
      ...(!model.wasRenamed && random() < 0.3 ? ['us'] : []),
    ],
  };
  const lead: TrueLead = {
    number: (model.leads.size > 0 ? Math.max(...model.leads.keys()) : 0) + 1,
    person,
    isOfPortal,
    isPullRequest,
    createdAt: scheduler.now(),
    wasEdited: false,
    approvedSince: undefined,
    claims: [],
    isGone: false,
    state: { second: wholeSeconds(scheduler.now()), wasTold: false },
    wasToldBack: false,
    wasLabelled: false,
    wasClosed: false,
    wasRedacted: false,
  };
  model.leads.set(lead.number, lead);
  const { number } = tracker.createIssue(issue);
  if (number !== lead.number) throw new Error(`the tracker counts otherwise: ${number}`);
  tell(`a visitor files #${number}${isPullRequest ? ' (a pull request)' : ''}`);
  return lead;
}
