import type { VersionRecord } from '#catalog/version/artifact.ts';
import { DAY, MINUTE } from '#shared/clock.ts';
import type { Html } from '../../../html.ts';
import { card } from '../../../shell/card.ts';
import { lanes } from '../../../shell/lanes.ts';
import type { Lane } from '../../../shell/lanes.ts';
import { code } from '../../../shell/parts.ts';
import { timeText } from '../../../shell/times.ts';
import type { Reader } from '../../../shell/times.ts';
import { LIFECYCLE_WORDS, sunsetDayText } from '../words.ts';

const LABEL_CHARACTERS = 8;

/** When each version came, was deprecated and went, and what is announced. */
export function lanesCard(
  versions: readonly VersionRecord[],
  defaultVersion: string | undefined,
  reader: Reader,
): Html {
  const { nowMs } = reader;
  const fromMs = Math.min(nowMs - MINUTE, ...versions.map(startOf));
  const untilMs = Math.max(nowMs, ...versions.map(({ sunsetAt }) => sunsetAt ?? nowMs));
  // The oldest version reaches over the whole width, however young it is.
  const style = untilMs - fromMs < 2 * DAY ? 'minute' : 'day';
  const day = (ms: number): string => timeText(ms, reader, style);
  const last = style === 'day' ? sunsetDayText(untilMs, reader) : day(untilMs);
  const states = (['DRAFT', 'PUBLISHED', 'DEPRECATED'] as const).map((one) => LIFECYCLE_WORDS[one]);
  return card(
    { id: 'h-life', heading: 'Life of the versions' },
    lanes({
      headingId: 'h-life',
      caption: `${day(fromMs)} to ${last}. The upright line is now; outlined parts are announced.`,
      fromMs,
      untilMs,
      nowMs,
      lanes: versions.map((record) => laneOf(record, defaultVersion, reader)),
      axis: [day(fromMs), day((fromMs + untilMs) / 2), last],
      legend: states.map(({ state, words }) => ({ state, label: words })),
      wideLabels: versions.some(({ version }) => version.length > LABEL_CHARACTERS),
    }),
  );
}

function startOf({ lifecycle, createdAt, publishedAt }: VersionRecord): number {
  return lifecycle === 'DRAFT' ? createdAt : (publishedAt ?? createdAt);
}

function laneOf(record: VersionRecord, defaultVersion: string | undefined, reader: Reader): Lane {
  const { version } = record;
  const isDefault = version === defaultVersion && ', the default';
  return {
    label: code(version),
    sentence: `${version}: ${historyOf(record, reader).join(', ')}${isDefault || ''}.`,
    spans: spansOf(record, reader.nowMs),
  };
}

/** Nothing changes a RETIRED version any more: it was changed last when it was retired. */
const retiredAt = ({ lifecycle, updatedAt }: VersionRecord): number | undefined =>
  lifecycle === 'RETIRED' ? updatedAt : undefined;

function spansOf(record: VersionRecord, nowMs: number): Lane['spans'] {
  const { lifecycle, deprecatedAt, sunsetAt } = record;
  const fromMs = startOf(record);
  if (lifecycle === 'DRAFT') return [{ state: 'wait', fromMs, untilMs: nowMs }];
  const end = retiredAt(record) ?? nowMs;
  const published = { state: 'ok', fromMs, untilMs: deprecatedAt ?? end } as const;
  if (deprecatedAt === undefined) return [published];
  const deprecated = { state: 'warn', fromMs: deprecatedAt, untilMs: end } as const;
  const isAnnounced = lifecycle === 'DEPRECATED' && sunsetAt !== undefined && sunsetAt > nowMs;
  if (!isAnnounced) return [published, deprecated];
  const rest = { state: 'warn', fromMs: nowMs, untilMs: sunsetAt, announced: true } as const;
  return [published, deprecated, rest];
}

function historyOf(record: VersionRecord, reader: Reader): string[] {
  const { createdAt, publishedAt, deprecatedAt, sunsetAt } = record;
  if (publishedAt === undefined) return [`draft since ${timeText(createdAt, reader, 'day')}`];
  const moments: [string, number | undefined][] = [
    ['published', publishedAt],
    ['deprecated', deprecatedAt],
    ['retired', retiredAt(record)],
  ];
  const history = moments.flatMap(([word, at]) =>
    at === undefined ? [] : [`${word} ${timeText(at, reader, 'day')}`],
  );
  const isAhead = sunsetAt !== undefined && retiredAt(record) === undefined;
  return isAhead ? [...history, `sunset ${sunsetDayText(sunsetAt, reader)}`] : history;
}
