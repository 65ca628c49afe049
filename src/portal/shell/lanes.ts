/** Spans of time below each other: the life of versions, the overlap of keys. */
import { html, type Html, type HtmlValue } from '../html.ts';
import { badge, type State } from './parts.ts';

export type Lane = {
  label: HtmlValue;
  /** The whole lane in words: it is what a screen reader says. */
  sentence: string;
  spans: readonly LaneSpan[];
};

/** From when to when; `announced` is outlined: it lies ahead. */
type LaneSpan = { state: State; fromMs: number; untilMs: number; announced?: boolean };

export type LanesFacts = {
  /** Id of the heading of the card that it stands in. */
  headingId: string;
  caption: HtmlValue;
  fromMs: number;
  untilMs: number;
  /** The upright line. */
  nowMs: number;
  lanes: readonly Lane[];
  /** Below, at equal distances: the first is the start, the last the end. */
  axis: readonly string[];
  legend?: readonly { state: State; label: string }[];
  /** Wider labels, such as ids of keys. */
  wideLabels?: boolean;
};

/** The figure; it stands in a card as it is. */
export function lanes(given: LanesFacts): Html {
  const { headingId, caption, axis, legend, wideLabels = false } = given;
  return html`<figure class="pic" aria-labelledby="${headingId}">
    <figcaption class="note">${caption}</figcaption>
    <ul class="lanes${wideLabels && ' keys'}">
      ${given.lanes.map((lane) => html`<li><span>${lane.label}</span>${picture(lane, given)}</li>`)}
      <li aria-hidden="true">
        <span class="x">${axis.map((word) => html`<span>${word}</span>`)}</span>
      </li>
    </ul>
    ${legend && html`<div class="row legend">${legend.map(({ state, label }) => html`${badge(state, label)} `)}</div>`}
  </figure>`;
}

function picture({ sentence, spans }: Lane, given: LanesFacts): Html {
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

const WIDTH_MIN = 0.5;

function rectangle(
  { state, fromMs, untilMs, announced = false }: LaneSpan,
  given: LanesFacts,
): Html {
  const x = percent(fromMs, given);
  const width = Math.max(WIDTH_MIN, Math.round((percent(untilMs, given) - x) * 10) / 10);
  return announced
    ? html`<rect class="plan" x="${x}" y="5" width="${width}" height="10" />`
    : html`<rect data-s="${state}" x="${x}" y="5" width="${width}" height="10" />`;
}

/** Where an instant lies, 0 to 100 with one decimal. */
function percent(ms: number, { fromMs, untilMs }: LanesFacts): number {
  const share = (ms - fromMs) / Math.max(1, untilMs - fromMs);
  return Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
}
