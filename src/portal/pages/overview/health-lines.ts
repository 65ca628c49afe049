import type { CheckResult } from '#http/routes/operations.ts';
import { DAY } from '#shared/clock.ts';
import { decapitalize, entryOf, type Standing } from '#shared/outcomes/entry.ts';
import { partsAmiss, partStates, webhookStates } from '#shared/outcomes/health.ts';
import { webhookRefusals } from '#shared/outcomes/callers.ts';
import { trackerCauses, trackerStep } from '#shared/outcomes/tracker-causes.ts';
import type { PortalContext } from '../../context.ts';
import { html, type Html } from '../../html.ts';
import { cut, link } from '../../shell/elements.ts';
import { ago, counted, type Viewer, time } from '../../shell/times.ts';
import { refusalOf } from '../partners.ts';

/** One part of the service on the page. */
export type HealthLine = Standing & {
  /** As `/readyz` names it. */
  name: string;
  label: string;
  text?: Html | undefined;
  /** Sentence for a part that is not well; by default its label and its word. */
  heading?: string | undefined;
  /** Link to the card about a webhook that does not get through, and the words on it. */
  setUp?: { step: string; heading: string; text: string };
  /** As it should be, though it is not `ok`. */
  isSettled?: true;
};

const LABELS: Readonly<Record<string, string>> = {
  tracker: 'Tracker',
  store: 'Store',
  worker: 'Worker',
  directory: 'Directory',
  issuer: 'Issuer',
};

/** A directory that is complete and was not caught up since is not what a reader would call well. */
function asShown(name: string, result: CheckResult): CheckResult {
  const isBehind = name === 'directory' && result.state === 'complete';
  return isBehind && result.detail?.includes('Last failure:') === true
    ? { ...result, state: 'behind' }
    : result;
}

/** A check of `/readyz`, with times in the viewer's zone. Most of the service needs no issuer. */
export function toHealthLine(name: string, check: CheckResult, viewer: Viewer): HealthLine {
  const result = asShown(name, check);
  const standing = partStates[result.state];
  const { title, meaning, next } = partsAmiss[`${name} ${result.state}`] ?? {};
  const step = next ?? stepOfCause(name, result);
  const said = [result.detail, meaning, step && `Next step: ${step}`].filter(Boolean);
  const isBad = !result.isReady || (standing.urgency === 'bad' && name !== 'issuer');
  return {
    ...standing,
    ...(standing.urgency === 'bad' && { urgency: isBad ? 'bad' : 'warn' }),
    name,
    label: LABELS[name] ?? name,
    heading: title,
    text: said.length > 0 ? withTimes(said.join(' '), viewer) : undefined,
  };
}

/** Cause in the detail of a check about the tracker. */
const CAUSE = /(?:Last cause|does not let us write): ([a-z-]+)/;

function stepOfCause(name: string, { state, detail = '' }: CheckResult): string | undefined {
  if (name !== 'tracker' && `${name} ${state}` !== 'worker paused') return undefined;
  const cause = entryOf(trackerCauses, CAUSE.exec(detail)?.[1] ?? '');
  return cause && trackerStep(cause);
}

/** States in which nothing of what is under way gets done. A partner that is lacking holds up its own events alone. */
const HOLDS: readonly [check: string, states: readonly string[]][] = [
  ['worker', ['paused', 'failing', 'stopped']],
  ['tracker', ['failing', 'exhausted']],
];

/** Why nothing that is under way gets done now, since when, and what to do, as the overview says it. */
export async function holdUp(
  { readiness }: Pick<PortalContext, 'readiness'>,
  viewer: Viewer,
): Promise<Html | undefined> {
  const { checks } = await readiness();
  for (const [name, states] of HOLDS) {
    const check = checks[name];
    if (!check || !states.includes(check.state)) continue;
    const { heading, label, text } = toHealthLine(name, check, viewer);
    return html`${heading ?? label}. ${text} ${link('/portal', 'Overview')}`;
  }
  return undefined;
}

const INSTANT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** Each instant in a text of ours as a time that has its UTC in the title. */
function withTimes(text: string, viewer: Viewer): Html {
  const pieces = text.split(INSTANT);
  return html`${pieces.map((piece) => (INSTANT.test(piece) ? time(Date.parse(piece), viewer, 'minute') : piece))}`;
}

/** Traffic of the tracker's webhook, over all instances. */
export type WebhookTraffic = {
  /** Address that the tracker is to send to. */
  url: string;
  /** Without one nothing is accepted. */
  hasSecret: boolean;
  /** False while the store cannot be read, which knows when it came. */
  isKnown: boolean;
  /** Time of the last delivery with a good signature; undefined for none in 30 days. */
  lastAt: number | undefined;
  /** Those of 30 days that were refused: how many, and the last one; undefined for none. */
  refused: { count: number; reason: string; lastAt: number } | undefined;
};

const QUIET_MS = 7 * DAY;

/** Line about the last delivery. None at all is not well, for changes are then seen late. */
export function webhookLine(facts: WebhookTraffic, viewer: Viewer): HealthLine {
  const named = { name: 'webhook', label: 'Webhook' };
  const { isKnown, lastAt, refused } = facts;
  if (!isKnown) return { ...named, ...webhookStates.unknown };
  // A good one after it shows that all is right again.
  if (refused && refused.lastAt > (lastAt ?? 0))
    return { ...named, ...webhookStates.refused, text: refusedText(facts, refused, viewer) };
  if (lastAt === undefined) return { ...named, ...webhookStates.never, text: neverText(facts) };
  const others = refused && `${counted(refused.count, 'other')} refused in 30 days.`;
  const text = html`Last delivery ${ago(lastAt, viewer)}. ${others}`;
  const state = viewer.nowMs - lastAt > QUIET_MS ? 'quiet' : 'ok';
  return { ...named, ...webhookStates[state], text };
}

/** Whoever knows the address can send what is refused, so it is not said that the tracker did. */
function refusedText(
  { lastAt, hasSecret }: WebhookTraffic,
  { count, reason, lastAt: refusedAt }: NonNullable<WebhookTraffic['refused']>,
  viewer: Viewer,
): Html {
  const { title, next } = refusalOf(webhookRefusals, reason);
  const all = lastAt === undefined && 'and none accepted, ';
  const step = hasSecret ? next : 'Check the secret: none is configured, so that none is accepted.';
  return html`${counted(count, 'delivery', 'deliveries')} refused in 30 days, ${all}the last
    ${ago(refusedAt, viewer)} (${cut(decapitalize(title), 60)}). ${step}
    <a href="#set-up">What it must send</a>`;
}

function neverText({ hasSecret }: WebhookTraffic): Html {
  return hasSecret
    ? html`No delivery in 30 days. <a href="#set-up">How to set it up</a>`
    : html`No secret is configured, so that none is accepted.
        <a href="#set-up">How to set it up</a>`;
}
