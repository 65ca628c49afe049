/** Pictures as SVG without text: they stretch, so their axes are HTML beside them. */
import { html, type Html, type HtmlValue } from '../html.ts';
import { card } from './card.ts';
import { badge, type State, details } from './elements.ts';
import { type Column, table } from './list.ts';
import { count, counted, time, type Viewer, timeText } from './times.ts';

type Series = { key: string; label: string; state: State };

type Slot = {
  /** Begin of the hour; milliseconds since the Unix epoch. */
  startMs: number;
  /** By the keys of the series; what is missing counts as 0. */
  counts: Readonly<Record<string, number>>;
};

type BarChart = {
  /** Unique on the page. */
  id: string;
  heading: string;
  aside?: HtmlValue;
  /** Unit in the singular: `receipt`. */
  unit: string;
  /** From the bottom of a bar to its top. */
  series: readonly Series[];
  /** Oldest first, the last one is the hour that runs. */
  slots: readonly Slot[];
};

const SLOT_WIDTH = 10;

/** A card with the picture, the sentence that says what it shows, and the same as a table. */
export function bars(given: BarChart, viewer: Viewer): Html {
  const { id, heading, aside, series, slots } = given;
  const top = axisTop(Math.max(0, ...slots.map((slot) => totalOf(slot, series))));
  const named = { id, heading, aside };
  return card(
    named,
    html`<figure class="pic" aria-labelledby="${id}">
      <figcaption class="note" id="${id}-says">${sentence(given, viewer)}</figcaption>
      <div class="plot">
        <div class="y" aria-hidden="true">
          ${[3, 2, 1, 0].map((third) => html`<span>${count((top / 3) * third)}</span>`)}
        </div>
        ${picture(given, top, viewer)}
        <div class="x" aria-hidden="true">${axis(slots, viewer)}</div>
      </div>
      <div class="row legend">
        ${series.map(({ state, label }) => html`${badge(state, label)} `)}
      </div>
      ${details('The same as a table', numbersTable(given, viewer))}
    </figure>`,
  );
}

/** The smallest multiple of 3 with whole thirds, readable, not below the largest bar. */
function axisTop(largest: number): number {
  const third = Math.max(1, Math.ceil(largest / 3));
  const magnitude = 10 ** Math.floor(Math.log10(third));
  const step = [1, 2, 5, 10].find((factor) => factor * magnitude >= third) ?? 10;
  return 3 * step * magnitude;
}

function picture({ id, series, slots }: BarChart, top: number, viewer: Viewer): Html {
  const width = slots.length * SLOT_WIDTH;
  const lines = [0, 33.3, 66.7, 100].map((y) => `M0 ${y}H${width}`).join('');
  return html`<svg
    viewBox="0 0 ${width} 100"
    preserveAspectRatio="none"
    role="img"
    aria-labelledby="${id}"
    aria-describedby="${id}-says"
  >
    <path class="grid" d="${lines}" />
    <g class="bars">${slots.map((slot, at) => bar(slot, at, { series, top, viewer }))}</g>
  </svg>`;
}

type BarScale = { series: readonly Series[]; top: number; viewer: Viewer };

function bar(slot: Slot, at: number, { series, top, viewer }: BarScale): Html {
  const heightOf = (n: number): number => Math.round((n / top) * 10_000) / 100;
  let below = 0;
  const parts = series.map(({ key, state }) => {
    const n = slot.counts[key] ?? 0;
    below += n;
    if (n === 0) return undefined;
    const y = Math.round((100 - heightOf(below)) * 100) / 100;
    return html`<rect
      data-s="${state}"
      x="${at * SLOT_WIDTH + 1}"
      y="${y}"
      width="8"
      height="${heightOf(n)}"
    />`;
  });
  const says = breakdown(slot.counts, series) || 'none';
  return html`<g><title>${timeText(slot.startMs, viewer, 'clock')}: ${says}</title>${parts}</g> `;
}

function axis(slots: readonly Slot[], viewer: Viewer): Html {
  const quarters = [0, 1, 2, 3].map((n) => slots[Math.floor((slots.length * n) / 4)]);
  const marks = quarters.filter((slot) => slot !== undefined);
  return html`${marks.map((slot) => html`<span>${hourOf(slot, viewer)}</span>`)}<span>now</span>`;
}

function sentence({ unit, series, slots }: BarChart, viewer: Viewer): HtmlValue {
  const sum: Record<string, number> = {};
  for (const { key } of series) {
    sum[key] = slots.reduce((total, { counts }) => total + (counts[key] ?? 0), 0);
  }
  const total = Object.values(sum).reduce((all, n) => all + n, 0);
  const hours = counted(slots.length, 'hour');
  if (total === 0) return `No ${unit} in ${hours}.`;
  const peak = slots.toSorted((a, b) => totalOf(b, series) - totalOf(a, series))[0];
  const most = peak && html` Most at ${hourOf(peak, viewer)}: ${count(totalOf(peak, series))}.`;
  return html`${counted(total, unit)} in ${hours}: ${breakdown(sum, series)}.${most}`;
}

function breakdown(counts: Readonly<Record<string, number>>, series: readonly Series[]): string {
  const some = series.filter(({ key }) => (counts[key] ?? 0) > 0);
  return some
    .map(({ key, label }) => `${count(counts[key] ?? 0)} ${label.toLowerCase()}`)
    .join(', ');
}

function totalOf({ counts }: Slot, series: readonly Series[]): number {
  return series.reduce((total, { key }) => total + (counts[key] ?? 0), 0);
}

function hourOf({ startMs }: Slot, viewer: Viewer): Html {
  return time(startMs, viewer, 'clock');
}

function numbersTable({ heading, series, slots }: BarChart, viewer: Viewer): Html {
  const hour: Column<Slot> = ['Hour', ({ startMs }) => time(startMs, viewer, 'minute')];
  const numbers = series.map(({ key, label }): Column<Slot> => [
    label,
    ({ counts }) => count(counts[key] ?? 0),
    'number',
  ]);
  const caption = `${heading}, last ${counted(slots.length, 'hour')}, newest first`;
  return table({ caption, columns: [hour, ...numbers], rows: slots.toReversed(), scrolls: true });
}

/** Shares of a quota below which something changes; dashed. */
const THRESHOLDS = [0.2, 0.1];

/** Rest of a quota: the figure, which stands as it is in the card whose heading has that id. */
export function quotaBar(
  headingId: string,
  caption: HtmlValue,
  { remaining, limit }: { remaining: number; limit: number },
): Html {
  const share = limit > 0 ? Math.min(1, Math.max(0, remaining / limit)) : 0;
  const marks = THRESHOLDS.map((at) => `M${at * 100} 0V20`).join('');
  const state = (['ok', 'warn', 'bad'] as const)[THRESHOLDS.filter((at) => share < at).length];
  return html`<figure class="pic" aria-labelledby="${headingId}">
    <figcaption class="note" id="${headingId}-says">${caption}</figcaption>
    <svg
      class="gauge"
      viewBox="0 0 100 20"
      preserveAspectRatio="none"
      role="img"
      aria-labelledby="${headingId}"
      aria-describedby="${headingId}-says"
    >
      <rect class="track" width="100" height="20" />
      <rect data-s="${state}" width="${Math.floor(share * 1000) / 10}" height="20" />
      <path class="limit" d="${marks}" />
    </svg>
  </figure>`;
}

export type ShareChart = {
  /** Id of the heading of the card that it stands in. */
  headingId: string;
  caption: HtmlValue;
  bars: readonly {
    label: HtmlValue;
    /** The whole bar in words: it is what a screen reader says. */
    sentence: string;
    /** Beside the bar. */
    value: string;
    /** Of the longest bar, 0 to 1. */
    share: number;
    state: State;
  }[];
};

/** Bars from left to right, one below the other; the figure stands in a card as it is. */
export function shares({ headingId, caption, bars: given }: ShareChart): Html {
  return html`<figure class="pic" aria-labelledby="${headingId}">
    <figcaption class="note">${caption}</figcaption>
    <ul class="lanes shares">
      ${given.map(
        ({ label, sentence: says, value, share, state }) =>
          html`<li>
            <span>${label}</span>
            <svg viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label="${says}">
              <rect class="track" width="100" height="20" />
              <rect
                data-s="${state}"
                y="5"
                width="${Math.max(WIDTH_MIN, Math.round(share * 1000) / 10)}"
                height="10"
              />
            </svg>
            <span aria-hidden="true">${value}</span>
          </li>`,
      )}
    </ul>
  </figure>`;
}

export type Lane = {
  label: HtmlValue;
  /** The whole lane in words: it is what a screen reader says. */
  sentence: string;
  spans: readonly LaneSpan[];
};

/** From when to when; `announced` is outlined: it lies ahead. */
type LaneSpan = { state: State; fromMs: number; untilMs: number; announced?: boolean };

/** Spans of time below each other: the life of versions, the overlap of keys. */
export type LaneChart = {
  /** Id of the heading of the card that it stands in. */
  headingId: string;
  caption: HtmlValue;
  fromMs: number;
  untilMs: number;
  /** The upright line. */
  nowMs: number;
  lanes: readonly Lane[];
  /** Below, at equal distances: the first is the start, the last the end. */
  axis: readonly HtmlValue[];
  legend?: readonly { state: State; label: string }[];
  /** Wider labels, such as ids of keys. */
  wideLabels?: boolean;
};

/** The figure; it stands in a card as it is. */
export function lanes(given: LaneChart): Html {
  const { headingId, caption, axis, legend, wideLabels = false } = given;
  return html`<figure class="pic" aria-labelledby="${headingId}">
    <figcaption class="note">${caption}</figcaption>
    <ul class="lanes${wideLabels && ' keys'}">
      ${given.lanes.map((lane) => html`<li><span>${lane.label}</span>${laneSvg(lane, given)}</li>`)}
      <li aria-hidden="true">
        <span class="x">${axis.map((word) => html`<span>${word}</span>`)}</span>
      </li>
    </ul>
    ${legend && html`<div class="row legend">${legend.map(({ state, label }) => html`${badge(state, label)} `)}</div>`}
  </figure>`;
}

function laneSvg({ sentence, spans }: Lane, given: LaneChart): Html {
  const now = percent(given.nowMs, given);
  return html`<svg
    viewBox="0 0 100 20"
    preserveAspectRatio="none"
    role="img"
    aria-label="${sentence}"
  >
    <rect class="track" width="100" height="20" />
    ${spans.map((span) => rectangle(span, given))}
    <path class="now" d="M${now} 0V20" />
  </svg>`;
}

const WIDTH_MIN = 1;

function rectangle(
  { state, fromMs, untilMs, announced = false }: LaneSpan,
  given: LaneChart,
): Html {
  const x = percent(fromMs, given);
  const width = Math.max(WIDTH_MIN, Math.round((percent(untilMs, given) - x) * 10) / 10);
  return announced
    ? html`<rect class="plan" x="${x}" y="5" width="${width}" height="10" />`
    : html`<rect data-s="${state}" x="${x}" y="5" width="${width}" height="10" />`;
}

/** Position of an instant on the lane, 0 to 100 with one decimal. */
function percent(ms: number, { fromMs, untilMs }: LaneChart): number {
  const share = (ms - fromMs) / Math.max(1, untilMs - fromMs);
  return Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
}
