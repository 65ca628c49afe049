/** Pages that say that something did not work, and what to do now. */
import type { ErrorCode } from '#shared/errors.ts';
import { problemHelp } from '#http/problems/problem-help.ts';
import { problemKinds } from '#http/problems/problem.ts';
import { html, type Html, type HtmlValue } from '../html.ts';
import { body, card, facts, row } from './card.ts';
import { renderLonePage } from './page.ts';
import { code, cut } from './parts.ts';
import { type Reader, time } from './times.ts';

export type RefusalFacts = {
  code: ErrorCode;
  /** In place of the code, for what only the portal refuses. */
  says?: string;
  /** By default the code's. */
  status?: number;
  /** Such as `You may not see consumers`; by default the title of the code. */
  heading?: string;
  /** What happened, and that nothing was changed if so; by default the meaning of the code. */
  text?: HtmlValue;
  /** What to do now; by default the remedy of the code. */
  nextStep?: HtmlValue;
  requestId: string;
  atMs: number;
  /** Links in the look of buttons: where to go from here. */
  actions?: HtmlValue;
};

/** The body of a page that refuses; its title and status come from `refusalTitle`, `refusalStatus`. */
export function refusal(given: RefusalFacts, reader: Reader): Html {
  const { text = problemHelp[given.code].meaning, nextStep = problemHelp[given.code].remedy } =
    given;
  const details = facts([
    { term: 'Status', value: html`${refusalStatus(given)} ${code(given.says ?? given.code)}` },
    { term: 'Request', value: code(cut(given.requestId)) },
    { term: 'At', value: time(given.atMs, reader) },
  ]);
  const inside = html`<p>${text}</p>
    <p><b>Next step:</b> ${nextStep}</p>
    ${details} ${given.actions !== undefined && row(given.actions)}`;
  return html`<div class="dialog">
    ${card({ id: 'refused', heading: 'What happened' }, body(inside))}
  </div>`;
}

/** The title of a page that refuses. */
export function refusalTitle({ code, heading }: Pick<RefusalFacts, 'code' | 'heading'>): string {
  return heading ?? problemKinds[code].title;
}

/** The status of a page that refuses. */
export function refusalStatus({ code, status }: Pick<RefusalFacts, 'code' | 'status'>): number {
  return status ?? problemKinds[code].status;
}

/** A refusal before there is a session, times in UTC. */
export function renderLoneRefusal(given: RefusalFacts & { repository: string }): string {
  const title = refusalTitle(given);
  const reader = { timeZone: 'UTC', nowMs: given.atMs };
  const content = html`<h1>${title}</h1>
    ${refusal(given, reader)}`;
  return renderLonePage(title, given.repository, content);
}
