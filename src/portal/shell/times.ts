/** Instants, durations and numbers as the portal shows them. */
import { DAY, HOUR, MINUTE, SECOND, toRfc3339 } from '#shared/clock.ts';
import { html, type Html } from '../html.ts';

/** For whom times are written. */
export type Viewer = {
  /** An IANA name; one that is unknown reads as UTC. */
  timeZone: string;
  nowMs: number;
};

/** `second`: 21 Nov 14:02:10, `minute`: 21 Nov 14:02, `day`: 21 Nov 2026, `clock`: 14:02. */
export type TimeStyle = 'second' | 'minute' | 'day' | 'clock';

const FORMATS_MAX = 100;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether the name is a time zone that this service knows. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}

/** An instant (milliseconds since the epoch) in the viewer's zone, its exact UTC in the title. */
export function time(ms: number, viewer: Viewer, style: TimeStyle = 'second'): Html {
  return timeElement(ms, timeText(ms, viewer, style));
}

/** An instant by its distance, where age is the message: `22 s ago`, `in 24 h`. */
export function ago(ms: number, viewer: Viewer): Html {
  return timeElement(ms, agoText(ms, viewer));
}

/** The same as `ago`, as text for sentences. */
export function agoText(ms: number, { nowMs }: Viewer): string {
  return ms > nowMs ? `in ${duration(ms - nowMs)}` : `${duration(nowMs - ms)} ago`;
}

/** The same as `time`, as text: for attributes. Beside another year's instants stands the year. */
export function timeText(ms: number, viewer: Viewer, style: TimeStyle = 'second'): string {
  const at = partsOf(ms, viewer.timeZone);
  const clock = `${at.hour}:${at.minute}`;
  if (style === 'clock') return clock;
  const date = `${at.day} ${at.month}`;
  if (style === 'day') return `${date} ${at.year}`;
  const year = at.year === partsOf(viewer.nowMs, viewer.timeZone).year ? '' : ` ${at.year}`;
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

function timeElement(ms: number, text: string): Html {
  const utc = toRfc3339(Math.floor(ms / SECOND) * SECOND);
  return html`<time datetime="${utc}" title="${utc.replace('T', ' ').replace('Z', ' UTC')}"
    >${text}</time
  >`;
}

type DateParts = Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', string>;

function partsOf(ms: number, timeZone: string): DateParts {
  const parts = formatFor(timeZone).formatToParts(ms);
  return Object.fromEntries(parts.map(({ type, value }) => [type, value])) as DateParts;
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  if (formats.size >= FORMATS_MAX) formats.clear();
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: isTimeZone(timeZone) ? timeZone : 'UTC',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(timeZone, format);
  return format;
}

/** The span of two days, such as `2026-11-21`, as the viewer's calendar has them; the second is part of it. */
export function spanOf(
  { from, to }: { from?: string; to?: string },
  timeZone: string,
): { since?: number; before?: number } {
  return {
    ...(from !== undefined && { since: startOfDay(Date.parse(from), timeZone) }),
    ...(to !== undefined && { before: startOfDay(Date.parse(to) + DAY, timeZone) }),
  };
}

/** When the day begins there that begins at `utcMs` in UTC. The clocks may have changed in between. */
function startOfDay(utcMs: number, timeZone: string): number {
  const near = utcMs - offsetMs(utcMs, timeZone);
  return utcMs - offsetMs(near, timeZone);
}

function offsetMs(ms: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const [, sign, hours = 0, minutes = 0] = /GMT([+-])(\d+):(\d+)/.exec(format.format(ms)) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE);
}
