import type { Config } from '#config/schema/schema.ts';
import { type readHeard, silentSince } from '#partners/silence.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { type Finding, ok, warning } from '#shared/report.ts';
import { formatDuration } from '#shared/text/units.ts';

const FIX =
  'See at the partner whether its webhook is on and what became of its last calls, then bring in what was missed: trackport receipt import --help.';

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
    const since = silentSince(partner, heardAt, now);
    return since === undefined
      ? [ok(subject, `Not silent: something is ${rhythm}.`)]
      : [warning(subject, `Nothing accepted since ${toRfc3339(since)}, and ${rhythm}.`, FIX)];
  });
}
