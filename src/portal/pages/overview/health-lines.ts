import type { CheckResult } from '#http/readiness.ts';
import { html, type Html } from '../../html.ts';
import { cut, type State } from '../../shell/elements.ts';
import { ago, counted, type Viewer, time } from '../../shell/times.ts';
import { DAY } from '#shared/clock.ts';
import { nextStep } from './next-step.ts';
import { type RefusalReason, refusalIn } from '../partners/verdict.ts';

/** How one part of the service is, as the page shows it. */
export type HealthLine = Look & {
  /** As `/readyz` names it. */
  name: string;
  label: string;
  text?: Html | undefined;
  /** Where it is not well, in a sentence; by default its label and its word. */
  heading?: string | undefined;
  /** Where the webhook does not get through: what leads to the card about it, and what that says. */
  setUp?: { step: string; heading: string; text: string };
};

type Look = {
  state: State;
  word: string;
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

const WELL: Look = { state: 'ok', word: 'Ok' };

const LOOKS: Readonly<Record<string, Look>> = {
  ok: WELL,
  complete: { state: 'ok', word: 'Complete' },
  standby: { state: 'mute', word: 'Stands by', isSettled: true },
  unknown: { state: 'mute', word: 'Not known yet' },
  starting: { state: 'wait', word: 'Starting' },
  crawling: { state: 'wait', word: 'Being filled' },
  behind: { state: 'warn', word: 'Not kept up' },
  paused: { state: 'bad', word: 'Paused' },
  lacking: { state: 'bad', word: 'Lacks a partner' },
  failing: { state: 'bad', word: 'Failing' },
  exhausted: { state: 'warn', word: 'Quota used up' },
  unavailable: { state: 'bad', word: 'Unavailable' },
  stopped: { state: 'bad', word: 'Stopped' },
};

/** Where a part is not well: that as a sentence, and what to do or to know. */
const AMISS: Readonly<Record<string, { heading: string; remedy?: string }>> = {
  'tracker failing': {
    heading: 'The tracker does not respond as it should',
    remedy:
      'Leads come from the cache meanwhile, for leads.staleIfError at most (503 for what it does not hold); deletions and events are accepted, hide what they name, and wait: nothing is lost.',
  },
  'tracker exhausted': {
    heading: 'The tracker’s quota is used up',
    remedy: 'Leads come from the cache until then (503 for what it does not hold).',
  },
  'store unavailable': {
    heading: 'The store cannot be used',
    remedy:
      'Deliveries get 503 meanwhile, for partners to send again; nothing that was accepted is lost. Next step: Look at its disk or database; it goes on by itself once that is well.',
  },
  'worker paused': {
    heading: 'The tracker does not let deletions be worked on',
    remedy: 'Deletions are accepted, what they name stays hidden, and nothing is lost.',
  },
  'directory behind': {
    heading: 'The lead directory is not kept up',
    remedy:
      'What it knows is still matched and hidden at once; changes since then are read once the tracker responds.',
  },
  'worker lacking': {
    heading: 'Deletions wait for a partner that the configuration lacks',
    remedy:
      'Nothing is lost: put the partner into the file (enabled: false is enough) and send SIGHUP, then they are worked on.',
  },
  'worker failing': {
    heading: 'Deletions are not worked on',
    remedy: 'Nothing is lost: once the store works, work goes on.',
  },
  'worker stopped': { heading: 'Deletions are not worked on' },
  'issuer failing': {
    heading: 'The issuer does not respond',
    remedy:
      'Who is signed in stays so, and tokens signed with known keys still pass. See whether this machine reaches it.',
  },
};

/** A directory that is complete and was not caught up since is not what a reader would call well. */
function asShown(name: string, result: CheckResult): CheckResult {
  const isBehind = name === 'directory' && result.state === 'complete';
  return isBehind && result.detail?.includes('Last failure:') === true
    ? { ...result, state: 'behind' }
    : result;
}

/** What `/readyz` says, with times in the viewer's zone. Most of the service needs no issuer. */
export function toHealthLine(name: string, check: CheckResult, viewer: Viewer): HealthLine {
  const result = asShown(name, check);
  const look = LOOKS[result.state] ?? { state: 'mute', word: result.state };
  const { heading, remedy = '' } = AMISS[`${name} ${result.state}`] ?? {};
  const said = [result.detail, remedy, nextStep(name, result)].filter((text) => text);
  return {
    ...look,
    name,
    state: stateOf(name, result, look),
    label: LABELS[name] ?? name,
    heading,
    text: said.length > 0 ? withTimes(said.join(' '), viewer) : undefined,
  };
}

function stateOf(name: string, { isReady }: CheckResult, look: Look): State {
  if (!isReady) return 'bad';
  return name === 'issuer' && look.state === 'bad' ? 'warn' : look.state;
}

const INSTANT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** Each instant in a text of ours as a time that has its UTC in the title. */
function withTimes(text: string, viewer: Viewer): Html {
  const pieces = text.split(INSTANT);
  return html`${pieces.map((piece) => (INSTANT.test(piece) ? time(Date.parse(piece), viewer, 'minute') : piece))}`;
}

/** What is known of the tracker's webhook, over all instances. */
export type WebhookFacts = {
  /** Where the tracker is to send to. */
  url: string;
  /** Without one nothing is accepted. */
  hasSecret: boolean;
  /** False while the store cannot be read, which knows when it came. */
  isKnown: boolean;
  /** When the last delivery came whose signature was good; undefined for none in 30 days. */
  lastAt: number | undefined;
  /** Those of 30 days that were refused: how many, and the last one; undefined for none. */
  refused: { count: number; reason: string; lastAt: number } | undefined;
};

const QUIET_MS = 7 * DAY;

/** When the last delivery came; what never came is not well, for changes are then seen late. */
export function webhookLine(facts: WebhookFacts, viewer: Viewer): HealthLine {
  const named = { name: 'webhook', label: 'Webhook' };
  const { isKnown, lastAt, refused } = facts;
  if (!isKnown) return { ...named, state: 'mute', word: 'Not known now' };
  // A good one after it shows that all is right again.
  if (refused && refused.lastAt > (lastAt ?? 0))
    return { ...named, ...REFUSED, text: refusedText(facts, refused, viewer) };
  if (lastAt === undefined) return { ...named, ...NEVER_CAME, text: neverText(facts) };
  const others = refused && `${counted(refused.count, 'other')} refused in 30 days.`;
  const text = html`Last delivery ${ago(lastAt, viewer)}. ${others}`;
  const look = viewer.nowMs - lastAt > QUIET_MS ? QUIET : WELL;
  return { ...named, ...look, text };
}

const QUIET = {
  state: 'warn',
  word: 'Quiet',
  heading: 'The tracker’s webhook has not come for a week',
} as const;

const REFUSED = {
  state: 'warn',
  word: 'Refused',
  heading: 'The tracker’s webhook is refused',
  setUp: {
    step: 'Set it right',
    heading: 'The webhook is refused',
    text: 'Until one is accepted, changed leads are seen later. In the tracker’s settings, under webhooks, compare, then redeliver:',
  },
} as const;

const NEVER_CAME = {
  state: 'warn',
  word: 'Never came',
  heading: 'The tracker’s webhook has never come',
  setUp: {
    step: 'Set it up',
    heading: 'The webhook has never come',
    text: 'Without it changed leads are seen later. In the tracker’s settings, under webhooks, add:',
  },
} as const;

/** Whoever knows the address can send what is refused, so it is not said that the tracker did. */
function refusedText(
  { lastAt, hasSecret }: WebhookFacts,
  { count, reason, lastAt: refusedAt }: NonNullable<WebhookFacts['refused']>,
  viewer: Viewer,
): Html {
  const { words, remedy } = refusalIn(REASONS, reason);
  const all = lastAt === undefined && 'and none accepted, ';
  const step = hasSecret
    ? remedy
    : 'Check the secret: none is configured, so that none is accepted.';
  return html`${counted(count, 'delivery', 'deliveries')} refused in 30 days, ${all}the last
    ${ago(refusedAt, viewer)} (${cut(words, 60)}). ${step} <a href="#set-up">What it must send</a>`;
}

function neverText({ hasSecret }: WebhookFacts): Html {
  return hasSecret
    ? html`No delivery in 30 days. <a href="#set-up">How to set it up</a>`
    : html`No secret is configured, so that none is accepted.
        <a href="#set-up">How to set it up</a>`;
}

/** Why deliveries of the tracker are refused. */
const REASONS: Readonly<Record<string, RefusalReason>> = {
  'signature-missing': {
    words: 'not signed',
    remedy: 'Check the secret: the webhook has none. Give it one of tracker.webhookSecrets.',
  },
  'signature-malformed': {
    words: 'signature malformed',
    remedy: 'See what stands between the tracker and this service: it changes the headers.',
  },
  'signature-wrong': {
    words: 'signature wrong',
    remedy: 'Check the secret: the webhook’s must be one of tracker.webhookSecrets.',
  },
  'content-type': {
    words: 'wrong content type',
    remedy: 'Set the webhook’s content type to application/json.',
  },
  'too-large': {
    words: 'over 25 MiB',
    remedy: 'Nothing is lost: the tracker is asked again in time.',
  },
  malformed: {
    words: 'not JSON',
    remedy: 'Its signature is good: see what made the body, and redeliver.',
  },
};
