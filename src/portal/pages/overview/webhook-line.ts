import { DAY } from '#shared/clock.ts';

import { html } from '../../html.ts';
import { ago } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import type { HealthLine } from './health-lines.ts';

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
};

const QUIET_MS = 7 * DAY;

/** When the last delivery came; what never came is not well, for changes are then seen late. */
export function webhookLine(
  { hasSecret, isKnown, lastAt }: WebhookFacts,
  reader: Reader,
): HealthLine {
  const line = { name: 'webhook', label: 'Webhook' };
  if (!isKnown) return { ...line, state: 'mute', word: 'Not known now' };
  if (lastAt !== undefined) {
    const isQuiet = reader.nowMs - lastAt > QUIET_MS;
    const text = html`Last delivery ${ago(lastAt, reader)}.`;
    return { ...line, state: isQuiet ? 'warn' : 'ok', word: isQuiet ? 'Quiet' : 'Ok', text };
  }
  const text = hasSecret
    ? html`No delivery in 30 days. <a href="#set-up">How to set it up</a>`
    : html`No secret is configured, so that none is accepted.
        <a href="#set-up">How to set it up</a>`;
  return { ...line, state: 'warn', word: 'Never came', text };
}
