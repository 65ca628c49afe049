import { z } from 'zod';
import type { PartnerSummary } from '#partners/list-partners.ts';
import { DAY } from '#shared/clock.ts';
import { startParameter, textFilter, withQuery } from '../../address.ts';
import type { Html } from '../../html.ts';
import { SECTIONS } from '../../page.ts';
import { badge, type State } from '../../shell/elements.ts';
import { PARTNER_ID_CHARACTERS_MAX } from '#shared/ids.ts';

/** A secret that ends within this time is shown as ending. */
const ENDS_SOON_MS = 14 * DAY;

/** Whether a partner gets through, in two words, and what to do if it does not. */
type Verdict = { state: State; words: string; nextStep?: string };

/** What concerns a person first, the gravest first. `nowMs`: since the Unix epoch. */
export function verdictOf(partner: PartnerSummary, nowMs: number): Verdict {
  const { enabled, secrets, refusals, lastVerifiedAt } = partner;
  if (!enabled) return { state: 'mute', words: 'Disabled' };
  const active = secrets.filter(({ status }) => status === 'active');
  if (active.length === 0) return noSecret(secrets.length);
  const [latest] = refusals;
  if (latest && latest.lastAt >= (lastVerifiedAt ?? 0)) return refusedLast(latest.reason);
  if (partner.silentSince !== undefined)
    return { state: 'warn', words: 'Silent', nextStep: SPEAK_AGAIN };
  if (active.every((secret) => endsSoon(secret, nowMs)))
    return { state: 'warn', words: 'Secret ends soon', nextStep: ADD_SECRET };
  if (lastVerifiedAt === undefined) return { state: 'wait', words: 'Silent for 7 days' };
  return latest ? { state: 'warn', words: 'Some refused' } : { state: 'ok', words: 'Receiving' };
}

/** What to do about a partner that sends nothing. */
export const SPEAK_AGAIN =
  'see at the partner whether its webhook is on, and what it says of its last calls; then bring in what was missed with trackport receipt import.';

const ADD_SECRET =
  'every secret that works ends within 14 days. Agree on a new one and add it beside the old.';

function noSecret(secrets: number): Verdict {
  return {
    state: 'bad',
    words: 'No active secret',
    nextStep:
      secrets === 0
        ? 'add a secret below this partner in the configuration: until then all its calls are refused.'
        : 'none of its secrets is active now, so all its calls are refused. Check notBefore and notAfter.',
  };
}

function refusedLast(reason: string): Verdict {
  const { words, remedy } = reasonOf(reason);
  return {
    state: 'bad',
    words: 'Last call refused',
    nextStep: `talk to its sender: ${words.toLowerCase()}. ${remedy}`,
  };
}

function endsSoon({ notAfter }: PartnerSummary['secrets'][number], nowMs: number): boolean {
  return notAfter !== undefined && notAfter - nowMs <= ENDS_SOON_MS;
}

/** The state of one secret. */
export function standingBadge(secret: PartnerSummary['secrets'][number], nowMs: number): Html {
  if (secret.status === 'expired') return badge('mute', 'Ended');
  if (secret.status === 'not-yet-active') return badge('wait', 'Not active yet');
  return endsSoon(secret, nowMs) ? badge('warn', 'Ends soon') : badge('ok', 'Active');
}

/** Why calls are refused, in words, and whose mistake it most likely is. */
export type RefusalReason = { words: string; remedy: string };

const REASONS: Readonly<Record<string, RefusalReason>> = {
  'signature-missing': {
    words: 'Signature missing',
    remedy: 'Its sender does not set the signature header.',
  },
  'signature-malformed': {
    words: 'Signature malformed',
    remedy: 'Its sender uses another scheme, or writes the header otherwise.',
  },
  'signature-wrong': {
    words: 'Signature wrong',
    remedy:
      'Another secret, or something between changes the body, or the address where it is signed.',
  },
  'secret-expired': {
    words: 'Secret has ended',
    remedy: 'The partner still signs with the old secret: it has to take the new one.',
  },
  'secret-not-yet-active': {
    words: 'Secret not active yet',
    remedy: 'The partner signs with the new secret too early: move its notBefore forward.',
  },
  'timestamp-malformed': {
    words: 'Timestamp malformed',
    remedy: 'Its sender must send the time once, in the unit of its scheme: see how partners sign.',
  },
  'timestamp-outside-window': {
    words: 'Timestamp too far off',
    remedy:
      'One of the two clocks is wrong, or calls lie in a queue for longer than the scheme allows.',
  },
  bearer: {
    words: 'Bearer token refused',
    remedy: 'Its signature was good: it needs a token of the issuer beside it.',
  },
  limit: {
    words: 'Over its limit',
    remedy: 'It calls more often than limitPerMinute allows: spread the calls, or raise the limit.',
  },
};

export const reasonOf = (code: string): RefusalReason => refusalIn(REASONS, code);

/** A reason that is not known there stands for itself. */
export function refusalIn(known: typeof REASONS, code: string): RefusalReason {
  const unknown = { words: code, remedy: 'See the log: it names the reason.' };
  return (Object.hasOwn(known, code) ? known[code] : undefined) ?? unknown;
}

export const { path: PARTNERS_PATH, scope } = SECTIONS.partners;

/** The address of the page: which partner it is to show, or how many stand before it. */
export const partnersQuery = z.strictObject({
  id: textFilter(PARTNER_ID_CHARACTERS_MAX),
  start: startParameter,
});

/** The place of one partner on the page that shows it. */
export function partnerPath(id: string): string {
  return `${withQuery(PARTNERS_PATH, { id })}#${partnerAnchor(id)}`;
}

export function partnerAnchor(id: string): string {
  return `p-${id}`;
}
