import type { Config } from '#config/schema/schema.ts';
import { type readHeard, silentSince } from '#partners/silence.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { partnerStates } from '#shared/outcomes/callers.ts';
import { type Finding, ok, warning } from '#shared/report.ts';
import { formatDuration } from '#shared/text/units.ts';

/** Whether those who are expected to send do. Of one that no service has had in its file nothing is known. */
export function checkSilence(
  { partners }: Pick<Config, 'partners'>,
  heard: Awaited<ReturnType<typeof readHeard>>,
  now: number,
): Finding[] {
  return Object.entries(partners).flatMap(([id, partner]) => {
    const { enabled, expectEvery } = partner;
    const heardAt = heard.get(id);
    if (!enabled || expectEvery === undefined || heardAt === undefined) return [];
    const subject = `partner ${id}`;
    const rhythm = `expected every ${formatDuration(expectEvery)}`;
    const { next } = partnerStates['fallen-silent'];
    const since = silentSince(partner, heardAt, now);
    return since === undefined
      ? [ok(subject, `Not silent: something is ${rhythm}.`)]
      : [warning(subject, `Nothing accepted since ${toRfc3339(since)}, and ${rhythm}.`, next)];
  });
}
