import type { Lead } from '#leads/model/lead-out.ts';
import type { IssueRecord } from '#sandbox/tracker/world/model.ts';
import { isApproved } from '../model.ts';
import type { Instance } from '../world/instance.ts';
import type { World } from '../world/world.ts';

/** An instance got a webhook; from now on it shows nothing older. */
export function learn({ learnt }: Instance, issue: IssueRecord, step: number): void {
  const { number, updatedAt } = issue;
  const before = learnt.get(number);
  // Of two of one second nobody can tell which is newer.
  if (before && before.updatedAt >= updatedAt) {
    if (before.updatedAt === updatedAt) learnt.set(number, { ...before, isApproved: true });
    return;
  }
  learnt.set(number, { updatedAt, isApproved: isApproved(issue), step });
}

/** A claimed lead is in no answer, and nothing is older than what this instance was told. */
export function checkShown(
  world: World,
  leads: readonly Lead[],
  { instance, since, isStale }: { instance: Instance; since: number; isStale: boolean },
): void {
  for (const lead of leads) {
    const number = Number(lead.id);
    const claims = world.model.leads.get(number)?.claims ?? [];
    if (
      claims.some(({ from, until = Infinity }) => from < since && until > world.scheduler.steps())
    )
      world.violate(`lead ${number} was shown by ${instance.owner.name}, though it was claimed`);
    const learnt = instance.learnt.get(number);
    if (!learnt || learnt.step >= since || isStale) continue;
    const shownAt = Date.parse(lead.updatedAt);
    if (shownAt < learnt.updatedAt && !world.model.hasLag)
      world.violate(`${instance.owner.name} showed an old state of lead ${number}`);
    // Approved again in the same second it looks the same, and is.
    const issue = world.tracker.readIssue(number);
    if (shownAt === learnt.updatedAt && !learnt.isApproved && !(issue && isApproved(issue)))
      world.violate(`${instance.owner.name} showed lead ${number}, which it knew to be unapproved`);
  }
}
