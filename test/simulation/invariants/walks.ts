import { MINUTE } from '#shared/clock.ts';
import type { World } from '../world/world.ts';

/** Older than any answer may be. */
const SURELY_SEEN_MS = 3 * MINUTE;

/**
 * To be called before a walk. Returns, at its end, the leads that must be in it: never claimed, and approved all the
 * time. Who reads leads with labels is not told of those that carry them for a time.
 */
export function expectedIn({ model, scheduler }: World): (labels: readonly string[]) => number[] {
  const before = scheduler.now() - SURELY_SEEN_MS;
  const sure = [...model.leads.values()].filter(
    ({ approvedSince = Infinity, isPullRequest }) => approvedSince < before && !isPullRequest,
  );
  return (labels) => {
    if (labels.length > 0) return [];
    return sure
      .filter(
        ({ approvedSince = Infinity, claims }) => approvedSince < before && claims.length === 0,
      )
      .map(({ number }) => number);
  };
}

/** In fair weather a whole walk shows what is approved and not claimed, and nothing else. */
export function checkWhole(
  { tracker, inspector, model, violate }: World,
  name: string,
  { shown, labels }: { shown: readonly number[]; labels: readonly string[] },
): void {
  const claimed = inspector.claimed();
  const wanted = tracker.issues().filter((issue) => {
    const has = new Set(issue.labels.map((label) => label.name));
    const isReadable =
      ['approved', ...labels].every((label) => has.has(label)) && !has.has('deleted');
    return isReadable && !issue.isPullRequest && !claimed.has(issue.number);
  });
  const found = new Set(shown);
  for (const { number } of wanted)
    if (!found.delete(number)) violate(`${name} does not see lead ${number}`);
  for (const number of found)
    violate(`${name} sees lead ${number}: ${JSON.stringify(model.leads.get(number))}`);
}
