import { activeKeys } from '#access/consumers/find-consumers.ts';
import type { Consumer, Key } from '#access/consumers/consumer.ts';
import { DAY } from '#shared/clock.ts';
import type { Html } from '../../../html.ts';
import { card } from '../../../shell/card.ts';
import { lanes } from '../../../shell/lanes.ts';
import type { Lane } from '../../../shell/lanes.ts';
import { code } from '../../../shell/parts.ts';
import { timeText } from '../../../shell/times.ts';
import type { Reader } from '../../../shell/times.ts';

const HEADING = 'h-rotation';

/** Two keys that work side by side: until when each does. Undefined when no rotation is under way. */
export function rotationCard(consumer: Consumer, reader: Reader): Html | undefined {
  const old = activeKeys(consumer, reader.nowMs).find(({ replacedBy }) => replacedBy !== undefined);
  const next = old && consumer.keys.find(({ keyId }) => keyId === old.replacedBy);
  if (old?.expiresAt === undefined || !next) return undefined;
  const fromMs = Math.min(next.createdAt, reader.nowMs - DAY);
  const untilMs = old.expiresAt + (old.expiresAt - fromMs) / 2;
  const until = timeText(old.expiresAt, reader, 'minute');
  return card(
    { id: HEADING, heading: 'Rotation' },
    lanes({
      headingId: HEADING,
      caption: `The old key ${old.keyId} works until ${until}. From then on only the new key ${next.keyId} does.`,
      fromMs,
      untilMs,
      nowMs: reader.nowMs,
      lanes: [laneOf(old, { fromMs, untilMs }, reader), laneOf(next, { fromMs, untilMs }, reader)],
      axis: [fromMs, (fromMs + untilMs) / 2, untilMs].map((ms) => timeText(ms, reader, 'minute')),
      wideLabels: true,
    }),
  );
}

type Span = { fromMs: number; untilMs: number };

function laneOf(key: Key, shown: Span, reader: Reader): Lane {
  const { keyId, createdAt, expiresAt = Infinity, replacedBy } = key;
  const end =
    expiresAt === Infinity ? 'without an end' : `until ${timeText(expiresAt, reader, 'minute')}`;
  return {
    label: code(keyId),
    sentence: `${keyId} works ${end}.`,
    spans: [
      {
        state: replacedBy === undefined ? 'ok' : 'warn',
        fromMs: Math.max(createdAt, shown.fromMs),
        untilMs: Math.min(expiresAt, shown.untilMs),
      },
    ],
  };
}
