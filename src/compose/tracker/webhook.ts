import { createWebhookVerifier } from '#adapters/github/webhook.ts';
import type { Config } from '#config/schema.ts';
import type { TrackerWebhookDeps } from '#http/routes/github-webhook/routes.ts';
import type { Leads } from '#leads/index.ts';
import type { Reloadable } from '#shared/reloadable.ts';

import type { PartnerArea } from '../partners.ts';
import type { TrackerParts } from './parts.ts';

export type TrackerWebhookParts = {
  settings: Reloadable<Config>;
  tracker: Pick<TrackerParts, 'repository'>;
  leads: Pick<Leads, 'applyEvent'>;
  partners: Pick<PartnerArea, 'filler'>;
};

/** What the tracker tells goes to the cache of leads, then to the directory. */
export function createTrackerWebhook(parts: TrackerWebhookParts): TrackerWebhookDeps {
  const { settings, tracker, leads, partners } = parts;
  const { repository } = tracker;
  const verifier = settings.derive((current) =>
    createWebhookVerifier({
      secrets: current.tracker.webhookSecrets,
      name: repository.name,
      repositoryId: () => repository.id(),
    }),
  );
  return {
    verify: (delivery) => verifier().verify(delivery),
    onTrackerEvent: (event) => {
      leads.applyEvent(event);
      partners.filler.apply(event);
    },
    settled: () => partners.filler.settled(),
  };
}
