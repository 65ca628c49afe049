/** How much of a quota is left, as one bar. */
import { html } from '../html.ts';
import type { Html, HtmlValue } from '../html.ts';
import type { State } from './parts.ts';

export type QuotaFacts = {
  /** Id of the heading of the card that it stands in. */
  headingId: string;
  /** Says in a sentence what is left and until when. */
  caption: HtmlValue;
  left: number;
  limit: number;
  /** Shares, 0 to 1, below which something changes; dashed. */
  thresholds?: readonly number[];
  note?: HtmlValue;
};

/** The figure; it stands in a card as it is. */
export function quotaBar(given: QuotaFacts): Html {
  const { headingId, caption, left, limit, thresholds = [], note } = given;
  const share = limit > 0 ? Math.min(1, Math.max(0, left / limit)) : 0;
  const marks = thresholds.map((at) => `M${at * 100} 0V20`).join('');
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
      <rect
        data-s="${stateOf(share, thresholds)}"
        width="${Math.floor(share * 1000) / 10}"
        height="20"
      />
      <path class="limit" d="${marks}" />
    </svg>
    ${note !== undefined && html`<p class="note">${note}</p>`}
  </figure>`;
}

function stateOf(share: number, thresholds: readonly number[]): State {
  const crossed = thresholds.filter((at) => share < at).length;
  if (crossed === 0) return 'ok';
  return crossed === thresholds.length && crossed > 1 ? 'bad' : 'warn';
}
