import { PAYLOAD_KEPT_MS } from '#partners/receipts/purge-receipts.ts';
import {
  type EventStep,
  type NameKind,
  type Outcome,
  type PartnerPath,
  type ReceiptEventDetail,
  type RuleEffect,
  whyOf,
} from '#partners/receipts/receipt.ts';
import { eventNotes, eventOutcomes } from '#shared/outcomes/events.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { claimPath } from '../../paths.ts';
import { body, card, row } from '../../shell/card.ts';
import {
  badgeOf,
  code,
  cut,
  foreign,
  link,
  note,
  type State,
  type Moment,
  timeline,
} from '../../shell/elements.ts';
import { count, counted, type Viewer, time } from '../../shell/times.ts';
import type { Leads, ShownReceipt } from './receipt-verdict.ts';
import { nameWords, remedyOf, issueLink, issueLinks } from './receipt-words.ts';

const TYPE_CHARACTERS_MAX = 60;
const ID_CHARACTERS_MAX = 120;
const LEADS_MAX = 10;
const WHO_CHARACTERS_MAX = 60;
const NAME_CHARACTERS_MAX = 60;

/** One event: how it ended, and what happened one after the other. */
export function eventCard(event: ReceiptEventDetail, given: ShownReceipt, viewer: Viewer): Html {
  const { receipt, leads } = given;
  const { position, outcome, leadIds } = event;
  const { eventType = receipt.eventType === 'batch' ? 'no type' : receipt.eventType } = event;
  const name = `event-${position + 1}`;
  const issues =
    leadIds.length > 0
      ? html`${note(leadIds.length === 1 ? 'Issue' : 'Issues')}
        ${issueLinks(leadIds.slice(0, 3), leads.issueAddress)}
        ${leadIds.length > 3 && ` and ${count(leadIds.length - 3)} more`}`
      : undefined;
  return card(
    {
      id: name,
      heading: html`Event ${position + 1}: ${foreign(eventType, TYPE_CHARACTERS_MAX)}`,
      aside: row(issues, badgeOf(eventOutcomes[outcome], { fill: true })),
      element: 'article',
    },
    body(
      identifiers(event),
      timeline(`What became of event ${position + 1}`, moments(event, given, viewer)),
    ),
  );
}

function identifiers({ eventId, externalId, names }: ReceiptEventDetail): Html | undefined {
  const given = [
    eventId === undefined ? undefined : html`Event id ${code(cut(eventId, ID_CHARACTERS_MAX))}`,
    externalId === undefined
      ? undefined
      : html`External id ${code(cut(externalId, ID_CHARACTERS_MAX))}`,
    names.length > 0 ? `Looks by ${nameWords(names)}` : undefined,
  ].filter((part) => part !== undefined);
  if (given.length === 0) return undefined;
  return html`<p class="note">${given.map((part, at) => html`${at > 0 && ' · '}${part}`)}</p>`;
}

/** Something of the past; without an instant it stands behind the acceptance. */
type Past = Omit<Moment, 'at'> & { atMs: number };

/** History in the order of time; the leads stand at the last match. */
function moments(event: ReceiptEventDetail, given: ShownReceipt, viewer: Viewer): Moment[] {
  const { receipt } = given;
  const { history } = event;
  const lastMatch = history.findLast(({ what }) => what === 'matched');
  const isNoted =
    event.note !== 'claim-released' || history.every(({ what }) => what !== 'released');
  const leads = matched(event, given, lastMatch);
  const past = [
    { state: 'ok' as const, heading: 'Accepted', atMs: receipt.receivedAt },
    isNoted && noted(event, receipt.receivedAt),
    lastMatch === undefined && leads,
    ...history.map((step) => (step === lastMatch && leads ? leads : happened(step))),
    ended(event, receipt.path),
  ].filter((one) => one !== undefined && one !== false);
  const next = awaited(event, viewer);
  return [
    ...past
      .toSorted((left, right) => left.atMs - right.atMs)
      .map(({ atMs, ...moment }) => ({ ...moment, at: time(atMs, viewer) })),
    ...(next ? [next] : []),
  ];
}

function matched(
  event: ReceiptEventDetail,
  { receipt, leads }: ShownReceipt,
  { at: atMs = receipt.receivedAt, effect }: Partial<EventStep> = {},
): Past | undefined {
  const { leadIds, outcome, isProvisional } = event;
  const isOpen = receipt.path === 'events' && !effect; // it claims nothing that could be shown before
  if (leadIds.length === 0 || isOpen)
    return outcome === 'PENDING'
      ? {
          state: 'wait',
          heading: 'Looking for whom it names',
          content: html`<p>No lead yet.</p>`,
          atMs,
        }
      : undefined;
  const shown = leadIds.slice(0, LEADS_MAX);
  const line = receipt.path === 'events' ? leadOfRule : leadLine;
  const lines = shown.map((number) => html`<li>${line(number, leads)}</li>`);
  const more = leadIds.length - shown.length;
  const found = counted(leadIds.length, 'lead');
  return {
    state: isProvisional ? 'wait' : 'ok',
    heading: isProvisional ? `Hidden until its match is certain: ${found}` : `Matched ${found}`,
    content: html`<ul class="list">
        ${lines}${more > 0 && html`<li>and ${count(more)} more</li>`}
      </ul>
      ${effect && ruleWords(effect)}`,
    atMs,
  };
}

/** Changes of the rule to each of them that is not so already. */
function ruleWords(effect: RuleEffect): Html {
  const { addLabels, removeLabels, assign, state, setFields = [], comments } = effect;
  const names = (list: readonly string[]): Html =>
    html`${list.map((name, at) => html`${at > 0 && ', '}${foreign(name, NAME_CHARACTERS_MAX)}`)}`;
  const parts = [
    addLabels.length > 0 && html`puts on ${names(addLabels)}`,
    removeLabels.length > 0 && html`takes off ${names(removeLabels)}`,
    assign.length > 0 && html`assigns ${names(assign)}`,
    state === 'closed' && 'closes the issue',
    state === 'open' && 'opens the issue again',
    setFields.length > 0 &&
      html`sets
      ${names(setFields.map(({ name, value }) => `${name} to ${[value].flat().join(', ')}`))}`,
    comments && 'writes a comment',
  ].filter((part) => part !== false);
  return html`<p>The rule ${parts.map((part, at) => html`${at > 0 && ', '}${part}`)}.</p>`;
}

function leadOfRule(number: string, { issueAddress, claimed }: Leads): Html {
  const issue = issueLink(number, issueAddress);
  return html`${issue}${claimed.has(number) && ': a deletion has claimed it, no event changes it'}`;
}

function leadLine(number: string, { issueAddress, claimed }: Leads): Html {
  const issue = issueLink(number, issueAddress);
  if (!claimed.has(number))
    return html`${issue}: no deletion hides it now;
    ${link(claimPath(number), 'why', { more: `nothing hides lead ${number}` })}`;
  const release = link(claimPath(number, 'release'), 'Release…', { more: `lead ${number}` });
  return html`${issue}: no reader sees it. Wrong match? ${release}`;
}

function noted({ note: noteOf }: ReceiptEventDetail, atMs: number): Past | undefined {
  if (noteOf === undefined) return undefined;
  const { title, next } = eventNotes[noteOf];
  return { state: 'warn', heading: title, content: html`<p>${next}</p>`, atMs };
}

/** State and words of a step, with who did it. */
const STEPS: Readonly<
  Record<Exclude<EventStep['what'], 'ended'>, [State, (step: EventStep, who: Html) => HtmlValue]>
> = {
  missed: ['wait', () => 'Looked, and found nobody'],
  matched: ['ok', () => 'Matched'],
  failed: ['bad', ({ code: why = '' }) => html`Attempt failed: ${code(cut(why, 60))}`],
  repeated: ['wait', () => 'The partner sent it again'],
  replayed: ['wait', (_step, who) => html`Replayed by ${who}`],
  'late-lead': ['wait', () => 'The tracker showed a lead late'],
  released: ['warn', ({ leadId }, who) => html`${who} gave ${`#${leadId}`} back`],
  acknowledged: ['mute', (_step, who) => html`Acknowledged by ${who}`],
};

function happened(step: EventStep): Past {
  const { at: atMs, what, outcome = 'FAILED', by = '' } = step;
  if (what === 'ended') return { ...ending(outcome, step.code), atMs };
  const [state, words] = STEPS[what];
  const content = what === 'released' && html`<p>${eventNotes['claim-released'].next}</p>`;
  return { state, heading: words(step, foreign(by, WHO_CHARACTERS_MAX)), content, atMs };
}

function ended(event: ReceiptEventDetail, path: PartnerPath) {
  const { outcome, completedAt: atMs, attempts, names } = event;
  if (atMs === undefined) return undefined;
  const { heading, ...rest } = ending(outcome, whyOf(path, event), names);
  const isLater = outcome === 'DONE' && attempts > 1;
  return { ...rest, heading: isLater ? `Done at attempt ${count(attempts)}` : heading, atMs };
}

/** End of an event, now or before it was worked again. */
function ending(outcome: Outcome, why?: string, names: readonly NameKind[] = []) {
  const { urgency: state } = eventOutcomes[outcome];
  const because = why === undefined ? undefined : html`<p>${remedyOf(why).means}.</p>`;
  switch (outcome) {
    case 'DONE':
      return { state, heading: 'Done', content: html`<p>Looked at again and found so.</p>` };
    case 'FAILED':
      return {
        state,
        heading: html`Became a dead letter: ${code(cut(why ?? '', 60))}`,
        content: because,
      };
    case 'UNMATCHED':
      return { state, ...foundNobody(why, names), ...(because && { content: because }) };
    case 'REJECTED':
      return { state, heading: 'Cannot be used', content: because };
    case 'IGNORED':
    case 'PENDING':
      return {
        state,
        heading: 'Nothing to do',
        content: html`${because}${why !== undefined && html`<p>${remedyOf(why).step}.</p>`}`,
      };
  }
}

function foundNobody(why: string | undefined, names: readonly NameKind[]) {
  return {
    heading: why === 'claim-released' ? 'Its lead was given back' : 'Found nobody',
    content: names.length > 0 && html`<p>No lead has its ${nameWords(names)}.</p>`,
  };
}

function awaited(event: ReceiptEventDetail, viewer: Viewer): Moment | undefined {
  const { outcome, dueAt, isReplayable, completedAt = 0 } = event;
  if (dueAt !== undefined)
    return dueAt > viewer.nowMs
      ? { state: 'wait', heading: 'Next attempt', at: time(dueAt, viewer) }
      : { state: 'wait', heading: 'It is the next to be worked on', at: time(dueAt, viewer) };
  if (outcome !== 'FAILED' && outcome !== 'UNMATCHED') return undefined;
  if (!isReplayable)
    return {
      state: 'mute',
      heading: 'Too late to replay it',
      content: html`<p>
        Its content was dropped after 30 days: the partner has to send it again.
      </p>`,
    };
  return {
    state: 'mute',
    heading: 'Replay it until',
    at: time(completedAt + PAYLOAD_KEPT_MS, viewer, 'day'),
    content: html`<p>Its content is kept encrypted for that, then dropped.</p>`,
  };
}
