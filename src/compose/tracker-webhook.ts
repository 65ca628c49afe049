import type { TrackerWebhook } from '#http/context.ts';
import { TRACKER } from '#partners/traffic.ts';
import type * as functions from './body-functions.ts';
import {
  createWebhookVerifier,
  type WebhookVerifier,
  type WatchedRepository,
} from '#adapters/github/webhook.ts';
import { isHeavy, refuseThread, type Thread } from '#adapters/threads/thread.ts';
import { transferablesOf } from '#shared/bytes.ts';
import type { App } from './compose.ts';

/** Deliveries of the tracker: verified, put on record, and taken to the leads. */
export function createTrackerWebhook(app: App): TrackerWebhook {
  const { settings, bodyThread, tracker, leads, traffic } = app;
  const { repository } = tracker;
  const createVerifier = createThreadedVerifiers(bodyThread);
  const verifier = settings.derive((current) =>
    createVerifier({
      secrets: current.tracker.webhookSecrets,
      name: repository.name,
      repositoryId: () => repository.id(),
    }),
  );
  return {
    verify: async (delivery) => {
      const event = await verifier().verify(delivery);
      traffic.record(TRACKER, 'verified', '');
      return event;
    },
    onTrackerEvent: (event) => leads.applyEvent(event),
    onRefused: (reason) => traffic.record(TRACKER, 'refused', reason),
    settled: () => leads.settled(),
  };
}

/**
 * Makes verifiers that hold up nobody: large deliveries are verified and read in the thread of bodies,
 * behind those of partners. Their bytes are transferred, and gone afterwards. Such a verifier
 * throws `overloaded`, too, when the thread is.
 */
export function createThreadedVerifiers(
  thread: Thread<Pick<typeof functions, 'verify'>>,
): (watched: WatchedRepository) => WebhookVerifier {
  return (watched) => {
    const here = createWebhookVerifier(watched);
    const secrets = watched.secrets.map((secret) => secret.reveal());
    return {
      verify: (delivery) => {
        const { rawBody } = delivery;
        if (!isHeavy(rawBody)) return here.verify(delivery);
        const job = {
          secrets,
          name: watched.name,
          repositoryId: watched.repositoryId?.(),
          delivery,
        };
        return thread
          .run('verify', job, { transfer: transferablesOf(rawBody) })
          .catch(refuseThread);
      },
    };
  };
}
