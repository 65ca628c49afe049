import { Counter, Gauge, type Registry } from 'prom-client';

/** The registry of metrics about partners. */
export type PartnerRegistry = {
  registry: Registry;
  /** False where the public can read the metrics: nobody may learn there who is a partner. */
  namesPartners: boolean;
  /** All that are configured at the moment. */
  partnerIds: () => readonly string[];
};

type PartnerCounter<Label extends string> = {
  name: string;
  help: string;
  /** Beside `partner`. */
  labelNames: readonly Label[];
  /**
   * Which of their values are there from the start, at 0, for every partner: Prometheus does not see a
   * rise in what first shows with a count, so that no alert would tell of the first one.
   */
  known?: readonly Record<Label, string>[];
};

/** Adds `count` (default 1) for one partner. */
type CountPartner<Label extends string> = (
  partnerId: string,
  labels: Record<Label, string>,
  count?: number,
) => void;

/**
 * A counter by partner. Every metric about single partners is made here or below: the label `partner` is
 * there only where partners may be named, else the counter holds the sum of all of them.
 */
export function createPartnerCounter<Label extends string = never>(
  { registry, namesPartners, partnerIds }: PartnerRegistry,
  { name, help, labelNames, known = [] }: PartnerCounter<Label>,
): CountPartner<Label> {
  const count: CountPartner<Label> = (partner, labels, count = 1) =>
    counter.inc(namesPartners ? { partner, ...labels } : labels, count);
  const counter = new Counter<string>({
    name,
    help,
    labelNames: namesPartners ? ['partner', ...labelNames] : labelNames,
    registers: [registry],
    collect: () => {
      for (const partner of partnerIds()) for (const labels of known) count(partner, labels, 0);
    },
  });
  return count;
}

type PartnerGauge = {
  name: string;
  help: string;
  /** By partner. Where it fails nothing is known, and no partner has a value. */
  read: () => Promise<readonly (readonly [partnerId: string, value: number])[]>;
};

/** A gauge by partner, which has no values where partners may not be named: a sum would say nothing. */
export function createPartnerGauge(
  { registry, namesPartners }: PartnerRegistry,
  { name, help, read }: PartnerGauge,
): void {
  void new Gauge({
    name,
    help,
    labelNames: ['partner'],
    registers: [registry],
    async collect() {
      const values = namesPartners ? await read().catch(() => []) : [];
      this.reset();
      for (const [partner, value] of values) this.set({ partner }, value);
    },
  });
}

/** Counts partners' requests for operators. None of it shows in a response. */
export type PartnerMetrics = {
  /** `partnerId` is `''` for a request that names no known partner. */
  refused(partnerId: string, reason: string): void;
  /** Events on a deletion path whose type does not delete. */
  ignored(partnerId: string, events: number): void;
};

export function createPartnerMetrics(partners: PartnerRegistry): PartnerMetrics {
  const refused = createPartnerCounter(partners, {
    name: 'trackport_partner_refusals_total',
    help: 'Calls of partners that could not be verified or were over a limit, by reason.',
    labelNames: ['reason'],
  });
  const ignored = createPartnerCounter(partners, {
    name: 'trackport_partner_deletions_ignored_total',
    help: 'Events on a deletion path that were ignored because of their type.',
    labelNames: [],
    known: [{}],
  });
  // Any other reason would show who is a partner and who is not.
  const isShown = (reason: string) => partners.namesPartners || harmlessReasons.has(reason);
  return {
    refused: (partnerId, reason) =>
      refused(partnerId, { reason: isShown(reason) ? reason : 'unverified' }),
    ignored: (partnerId, events) => {
      if (events > 0) ignored(partnerId, {}, events);
    },
  };
}

/** Found before any partner is looked up, or only after its signature was good. */
const harmlessReasons: ReadonlySet<string> = new Set(['shape', 'bearer', 'limit']);
