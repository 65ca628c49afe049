import { DAY } from '#shared/clock.ts';

import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { cut } from '../../shell/parts.ts';
import { ago, counted } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import type { HealthLine } from './health-lines.ts';
import { webhookRefusalOf } from './webhook-refusals.ts';

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
