import { z } from 'zod';
import type { PartnerSummary } from '#partners/list-partners.ts';
import { DAY } from '#shared/clock.ts';
import { type CallerState, partnerStates, secretStates } from '#shared/outcomes/callers.ts';
import { decapitalize, entryOf } from '#shared/outcomes/entry.ts';
import { partnerRefusals, type Refusal } from '#shared/outcomes/refusals.ts';
import { startParameter, textFilter } from '../../address.ts';
import type { Html } from '../../html.ts';
import { badgeOf } from '../../shell/elements.ts';
import { PARTNER_ID_CHARACTERS_MAX } from '#shared/ids.ts';

/** A secret that ends within this time is shown as ending. */
const ENDS_SOON_MS = 14 * DAY;

/** The gravest thing about a partner, and what to do about it. `nowMs`: since the Unix epoch. */
export function verdictOf(partner: PartnerSummary, nowMs: number): CallerState {
  const { enabled, secrets, refusals, lastVerifiedAt } = partner;
  if (!enabled) return partnerStates.disabled;
  const active = secrets.filter(({ status }) => status === 'active');
  if (active.length === 0)
    return partnerStates[secrets.length === 0 ? 'without-secret' : 'without-active-secret'];
  const [latest] = refusals;
  if (latest && latest.lastAt >= (lastVerifiedAt ?? 0)) return refusedLast(latest.reason);
  if (partner.silentSince !== undefined) return partnerStates['fallen-silent'];
  if (active.every((secret) => endsSoon(secret, nowMs))) return partnerStates['secret-ending'];
  if (lastVerifiedAt === undefined) return partnerStates.silent;
  return latest ? partnerStates['some-refused'] : partnerStates.receiving;
}

function refusedLast(reason: string): CallerState {
  const state = partnerStates['last-refused'];
  const { title, next } = refusalOf(partnerRefusals, reason);
  return { ...state, next: `${state.next}: ${decapitalize(title)}. ${next}` };
}

function endsSoon({ notAfter }: PartnerSummary['secrets'][number], nowMs: number): boolean {
  return notAfter !== undefined && notAfter - nowMs <= ENDS_SOON_MS;
}

/** The state of one secret. */
export function standingBadge(secret: PartnerSummary['secrets'][number], nowMs: number): Html {
  const isEnding = secret.status === 'active' && endsSoon(secret, nowMs);
  return badgeOf(secretStates[isEnding ? 'ending' : secret.status]);
}

/** A reason that is not known in `table` stands for itself. */
export const refusalOf = (table: Readonly<Record<string, Refusal>>, code: string): Refusal =>
  entryOf(table, code) ?? { title: code, next: 'See the log: it names the reason.' };

/** The address of the page: which partner it is to show, or how many stand before it. */
export const partnersQuery = z.strictObject({
  id: textFilter(PARTNER_ID_CHARACTERS_MAX),
  start: startParameter,
});
