import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';

/** What operators see of partners' calls. None of it shows in an answer. */
export type PartnerMetrics = {
  /** `partnerId` is `''` for a call that names no known partner. */
  refused(partnerId: string, reason: string): void;
  /** Events on a deletion path whose type does not delete. */
  ignored(partnerId: string, events: number): void;
};

export function createPartnerMetrics(registry: Registry): PartnerMetrics {
  const refusals = new Counter({
    name: 'trackport_partner_refusals_total',
    help: 'Calls of partners that could not be verified or were over a limit, by reason.',
    labelNames: ['partner', 'reason'] as const,
    registers: [registry],
  });
  const ignored = new Counter({
    name: 'trackport_partner_deletions_ignored_total',
    help: 'Events on a deletion path that were ignored because of their type.',
    labelNames: ['partner'] as const,
    registers: [registry],
  });
  return {
    refused: (partner, reason) => refusals.inc({ partner, reason }),
    ignored: (partner, events) => {
      if (events > 0) ignored.inc({ partner }, events);
    },
  };
}
