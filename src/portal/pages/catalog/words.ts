import type { Lifecycle, VersionRecord } from '#catalog/version/artifact.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import { html, type Html } from '../../html.ts';
import { badgeOf, note, type BadgeWords } from '../../shell/parts.ts';
import { counted, type Reader, time, timeText } from '../../shell/times.ts';

export const LIFECYCLE_WORDS: Readonly<Record<Lifecycle, BadgeWords>> = {
  DRAFT: { state: 'wait', words: 'Draft' },
  PUBLISHED: { state: 'ok', words: 'Published' },
  DEPRECATED: { state: 'warn', words: 'Deprecated' },
  RETIRED: { state: 'mute', words: 'Retired' },
};

/** The day on which a version ends: that which was chosen, wherever its reader is. */
export function sunsetDay(sunsetAt: number, reader: Reader): Html {
  return time(sunsetAt, readerOfSunset(sunsetAt, reader), 'day');
}

/** The same as text. */
export function sunsetDayText(sunsetAt: number, reader: Reader): string {
  return timeText(sunsetAt, readerOfSunset(sunsetAt, reader), 'day');
}

/** A whole day ends with its last second in UTC. An instant of a day is one in the reader's zone. */
function readerOfSunset(sunsetAt: number, reader: Reader): Reader {
  return sunsetAt % DAY === DAY - SECOND ? { ...reader, timeZone: 'UTC' } : reader;
}

/** The state, and what is about to become of the version. */
export function lifecycleStatus(record: VersionRecord, reader: Reader): Html {
  const { lifecycle, sunsetAt, findings } = record;
  const isEnding = lifecycle === 'DEPRECATED' && sunsetAt !== undefined;
  return html`${badgeOf(LIFECYCLE_WORDS[lifecycle])}${isEnding && note('Sunset ', sunsetDay(sunsetAt, reader))}${
    lifecycle === 'DRAFT' && findings.length > 0 && note(counted(findings.length, 'finding'))
  }`;
}
