/** Addresses of the pages of the catalog, and the words that stand on them. */
import type { Standing } from '#shared/outcomes/entry.ts';
import { z } from 'zod';
import { lifecycles, type Lifecycle, type VersionRecord } from '#catalog/version/artifact.ts';
import { cursorFilter, oneOfFilter, textFilter, withQuery } from '../../address.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import { html, type Html } from '../../html.ts';
import { badgeOf, note } from '../../shell/elements.ts';
import { calendarDay, counted, type Viewer, time } from '../../shell/times.ts';
import { catalogPath } from '../../paths.ts';

/** Every filter stands in every link of the page. */
const FILTERS_BYTES_MAX = 2400;

/** The address of the list. */
export const catalogQuery = z
  .strictObject({
    q: textFilter(),
    type: textFilter(),
    lifecycle: oneOfFilter(lifecycles),
    owner: textFilter(),
    groupPath: textFilter(),
    source: textFilter(),
    projectId: textFilter(),
    versions: oneOfFilter(['all']),
    cursor: cursorFilter,
  })
  .refine(
    ({ cursor: _cursor, ...filters }) => withQuery('', filters).length <= FILTERS_BYTES_MAX,
    'The filters are too long together: leave some out, or shorten them.',
  );

export type CatalogQuery = z.output<typeof catalogQuery>;

/** The list of a group; empty, and no link, for a path that is too long for the address. */
export function groupPathOf(groupPath: string): string {
  const path = catalogPath({ groupPath });
  return path.length <= FILTERS_BYTES_MAX ? path : '';
}

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
export function lifecycleStatus(record: VersionRecord, viewer: Viewer): Html {
  const { lifecycle, sunsetAt, findings } = record;
  const isEnding = lifecycle === 'DEPRECATED' && sunsetAt !== undefined;
  return html`${badgeOf(LIFECYCLE_WORDS[lifecycle])}${isEnding && note('Sunset ', sunsetDay(sunsetAt, viewer))}${
    lifecycle === 'DRAFT' && findings.length > 0 && note(counted(findings.length, 'finding'))
  }`;
}
