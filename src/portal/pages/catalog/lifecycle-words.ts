/** Says of a version where it is in its life, and when that ends. */
import type { Lifecycle, ListedVersion } from '#catalog/version/artifact.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import type { Standing } from '#shared/outcomes/entry.ts';
import { html, type Html } from '../../html.ts';
import { badgeOf, note } from '../../shell/elements.ts';
import { calendarDay, counted, type Viewer, time } from '../../shell/times.ts';

export const LIFECYCLE_WORDS: Readonly<Record<Lifecycle, Standing>> = {
  DRAFT: { urgency: 'wait', title: 'Draft' },
  PUBLISHED: { urgency: 'ok', title: 'Published' },
  DEPRECATED: { urgency: 'warn', title: 'Deprecated' },
  RETIRED: { urgency: 'mute', title: 'Retired' },
};

/** The day on which a version ends: that which was chosen, wherever its viewer is. */
export function sunsetDay(sunsetAt: number, viewer: Viewer): Html {
  return isWholeDay(sunsetAt) ? calendarDay(sunsetAt, viewer) : time(sunsetAt, viewer, 'day');
}

/** A whole day ends with its last second in UTC. */
const isWholeDay = (sunsetAt: number): boolean => sunsetAt % DAY === DAY - SECOND;

/** The state, and what is about to become of the version. */
export function lifecycleStatus(
  { lifecycle, sunsetAt }: ListedVersion,
  findings: number,
  viewer: Viewer,
): Html {
  const isEnding = lifecycle === 'DEPRECATED' && sunsetAt !== undefined;
  return html`${badgeOf(LIFECYCLE_WORDS[lifecycle])}${isEnding && note('Sunset ', sunsetDay(sunsetAt, viewer))}${
    lifecycle === 'DRAFT' && findings > 0 && note(counted(findings, 'finding'))
  }`;
}
