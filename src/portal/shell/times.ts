/** Instants, durations and numbers as the portal shows them. */
import { DAY, HOUR, MINUTE, SECOND, toRfc3339 } from '#shared/clock.ts';
import { html, type Html } from '../html.ts';
import { attributes } from './elements.ts';

/** The moment at which a page is shown. */
export type Viewer = { nowMs: number };

/** `second`: 21 Nov 14:02:10, `minute`: 21 Nov 14:02, `day`: 21 Nov 2026, `clock`: 14:02. */
export type TimeStyle = 'second' | 'minute' | 'day' | 'clock';

/** An instant (milliseconds since the epoch) in UTC, which the page's script turns into the time of the reader's zone. */
export function time(ms: number, viewer: Viewer, style: TimeStyle = 'second'): Html {
  return timeElement(ms, textIn(ms, viewer, style), style);
}

/** A day of the calendar that somebody chose, the same for every reader. */
export function calendarDay(ms: number, viewer: Viewer): Html {
  return timeElement(ms, textIn(ms, viewer, 'day'));
}

/** An instant by its distance, where age is the message: `22 s ago`, `in 24 h`. */
export function ago(ms: number, viewer: Viewer): Html {
  return timeElement(ms, agoText(ms, viewer));
}

/** `ago` as text for sentences. */
export function agoText(ms: number, { nowMs }: Viewer): string {
  return ms > nowMs ? `in ${duration(ms - nowMs)}` : `${duration(nowMs - ms)} ago`;
}

/** For attributes, which no script turns: `21 Nov 14:02 UTC`, and `21 Nov 2026` for a day. */
export function timeText(ms: number, viewer: Viewer, style: TimeStyle = 'second'): string {
  return `${textIn(ms, viewer, style)}${style === 'day' ? '' : ' UTC'}`;
}

/** Beside another year's instants stands the year. */
function textIn(ms: number, { nowMs }: Viewer, style: TimeStyle): string {
  const at = partsOf(ms);
  const clock = `${at.hour}:${at.minute}`;
  if (style === 'clock') return clock;
  const date = `${at.day} ${at.month}`;
  if (style === 'day') return `${date} ${at.year}`;
  const year = at.year === partsOf(nowMs).year ? '' : ` ${at.year}`;
  return `${date}${year} ${style === 'second' ? `${clock}:${at.second}` : clock}`;
}

/** `4 min`, `1 h 55 min`, `6 days`: cut, never rounded up, so that no limit seems reached early. */
export function duration(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) {
    const minutes = Math.floor((ms % HOUR) / MINUTE);
    const hours = `${Math.floor(ms / HOUR)} h`;
    return ms < 10 * HOUR && minutes > 0 ? `${hours} ${minutes} min` : hours;
  }
  return `${count(Math.floor(ms / DAY))} days`;
}

const numbers = new Intl.NumberFormat('en');

/** `4,212`. */
export function count(n: number): string {
  return numbers.format(n);
}

/** `1 receipt`, `4,212 receipts`; `many` by default with an s. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** `84 KB`, in steps of 1,000, cut. */
export function bytes(n: number): string {
  if (n < 1000) return `${count(n)} bytes`;
  if (n < 1_000_000) return `${count(Math.floor(n / 1000))} KB`;
  return `${count(Math.floor(n / 1_000_000))} MB`;
}

/** `style`: for the script, which leaves others as they are. */
function timeElement(ms: number, text: string, style?: TimeStyle): Html {
  const utc = toRfc3339(Math.floor(ms / SECOND) * SECOND);
  const title = utc.replace('T', ' ').replace('Z', ' UTC');
  return html`<time${attributes({ datetime: utc, title, 'data-style': style })}>${text}</time>`;
}

type DateFields = Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', string>;

const format = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

function partsOf(ms: number): DateFields {
  const parts = format.formatToParts(ms).map(({ type, value }) => [type, value]);
  return Object.fromEntries(parts) as DateFields;
}
