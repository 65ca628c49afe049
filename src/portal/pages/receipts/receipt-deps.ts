import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { Partners } from '#partners/index.ts';
import type { Clock } from '#shared/clock.ts';
import type { PortalPerson } from '../../person.ts';
import type { Reader } from '../../shell/times.ts';
import type { IssueAddress } from './leads.ts';

export type ReceiptPagesDeps = {
  partners: Pick<Partners, 'list' | 'receipts' | 'statusTokenOf'>;
  claimedLeads: Pick<ClaimedLeads, 'read' | 'release'>;
  issueAddress: IssueAddress;
  clock: Pick<Clock, 'now'>;
};

export const scope = 'trackport:admin';

/** For whom times are written, now. */
export function readerOf({ clock }: ReceiptPagesDeps, { timeZone }: PortalPerson): Reader {
  return { timeZone, nowMs: clock.now() };
}
