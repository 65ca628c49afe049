import type { CheckResult } from '#http/routes/operations/readiness.ts';
import { html, type Html } from '../../html.ts';
import { cut, type State } from '../../shell/parts.ts';
import { ago, counted, type Reader, time } from '../../shell/times.ts';
import { DAY } from '#shared/clock.ts';
import { type RefusalReason, refusalIn } from '../partners/verdict.ts';

/** How one part of the service is, as the page shows it. */
export type HealthLine = {
  /** As `/readyz` names it. */
  name: string;
  label: string;
  state: State;
  word: string;
  text?: Html;
};

const LABELS: Readonly<Record<string, string>> = {
  tracker: 'Tracker',
  store: 'Store',
  worker: 'Worker',
  directory: 'Directory',
  issuer: 'Issuer',
  processes: 'Processes',
};

/** Of a worker that another instance works for. */
export const STANDBY_WORD = 'Stands by';

type Look = { state: State; word: string };

const LOOKS: Readonly<Record<string, Look>> = {
  ok: { state: 'ok', word: 'Ok' },
  complete: { state: 'ok', word: 'Complete' },
  standby: { state: 'mute', word: STANDBY_WORD },
  unknown: { state: 'mute', word: 'Not known yet' },
  starting: { state: 'wait', word: 'Starting' },
  crawling: { state: 'wait', word: 'Being filled' },
  incomplete: { state: 'wait', word: 'Incomplete' },
  paused: { state: 'bad', word: 'Paused' },
  lacking: { state: 'bad', word: 'Lacks a partner' },
  failing: { state: 'bad', word: 'Failing' },
  exhausted: { state: 'warn', word: 'Quota used up' },
  unavailable: { state: 'bad', word: 'Unavailable' },
  stopped: { state: 'bad', word: 'Stopped' },
};

/** What to do, or to know, where a part is not well. */
const REMEDIES: Readonly<Record<string, string>> = {
  'tracker failing': 'Leads come from the cache meanwhile; trackport doctor says what to mend.',
  'tracker exhausted': 'Leads come from the cache until then.',
  'store unavailable': 'Look at the disk or the database: nothing is accepted meanwhile.',
  'worker paused': 'Nothing is lost: give the credential the right to write, then work goes on.',
  'worker lacking':
    'Nothing is lost: put the partner into the file (enabled: false is enough) and send SIGHUP, then they are worked on.',
  'worker failing': 'Nothing is lost: once the store works, work goes on.',
  'issuer failing':
    'Who is signed in stays so, and tokens signed with known keys still pass. See whether this machine reaches it.',
};

/** What `/readyz` says, with times in the reader's zone. Most of the service needs no issuer. */
export function toHealthLine(name: string, result: CheckResult, reader: Reader): HealthLine {
  const look = LOOKS[result.state] ?? { state: 'mute', word: result.state };
  const state = stateOf(name, result, look);
  const { detail } = result;
  const label = LABELS[name] ?? name;
  const remedy = REMEDIES[`${name} ${result.state}`];
  return {
    name,
    label,
    word: look.word,
    state,
    ...((detail ?? remedy) !== undefined && {
      text: html`${withTimes(detail ?? '', reader)} ${remedy}`,
    }),
  };
}

function stateOf(name: string, { isReady }: CheckResult, look: Look): State {
  if (!isReady) return 'bad';
  return name === 'issuer' && look.state === 'bad' ? 'warn' : look.state;
}

const INSTANT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** Each instant in a text of ours as a time that has its UTC in the title. */
function withTimes(text: string, reader: Reader): Html {
  const pieces = text.split(INSTANT);
  return html`${pieces.map((piece) => (INSTANT.test(piece) ? time(Date.parse(piece), reader, 'minute') : piece))}`;
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

/** Whether the last delivery was refused; a good one after it shows that all is right again. */
export function isRefused({ lastAt, refused }: WebhookFacts): boolean {
  return refused !== undefined && refused.lastAt > (lastAt ?? 0);
}

/** When the last delivery came; what never came is not well, for changes are then seen late. */
export function webhookLine(facts: WebhookFacts, reader: Reader): HealthLine {
  const line = { name: 'webhook', label: 'Webhook' };
  const { isKnown, lastAt, refused } = facts;
  if (!isKnown) return { ...line, state: 'mute', word: 'Not known now' };
  if (refused && isRefused(facts))
    return { ...line, state: 'warn', word: 'Refused', text: refusedText(facts, refused, reader) };
  if (lastAt === undefined)
    return { ...line, state: 'warn', word: 'Never came', text: neverText(facts) };
  const isQuiet = reader.nowMs - lastAt > QUIET_MS;
  const others = refused && `${counted(refused.count, 'other')} refused in 30 days.`;
  const text = html`Last delivery ${ago(lastAt, reader)}. ${others}`;
  return { ...line, state: isQuiet ? 'warn' : 'ok', word: isQuiet ? 'Quiet' : 'Ok', text };
}

/** Whoever knows the address can send what is refused, so it is not said that the tracker did. */
function refusedText(
  { lastAt, hasSecret }: WebhookFacts,
  { count, reason, lastAt: refusedAt }: NonNullable<WebhookFacts['refused']>,
  reader: Reader,
): Html {
  const { words, remedy } = webhookRefusalOf(reason);
  const all = lastAt === undefined && 'and none accepted, ';
  const step = hasSecret
    ? remedy
    : 'Check the secret: none is configured, so that none is accepted.';
  return html`${counted(count, 'delivery', 'deliveries')} refused in 30 days, ${all}the last
    ${ago(refusedAt, reader)} (${cut(words, 60)}). ${step} <a href="#set-up">What it must send</a>`;
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

export const webhookRefusalOf = (reason: string): RefusalReason => refusalIn(REASONS, reason);
