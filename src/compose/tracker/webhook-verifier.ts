import type * as functions from '#adapters/github/webhook-functions.ts';
import {
  createWebhookVerifier,
  type WebhookVerifier,
  type WebhookVerifierDeps,
} from '#adapters/github/webhook.ts';
import { isHeavy, refuseThread } from '#adapters/threads/heavy-body.ts';
import { createThread } from '#adapters/threads/thread.ts';
import type { Clock } from '#shared/clock.ts';
import { entryUrl } from '#shared/program.ts';
import { transferablesOf } from '#shared/transferable.ts';

/**
 * Makes verifiers that hold up nobody: large deliveries are verified and read in a thread, which
 * they share with no partner's. Their bytes are transferred, and gone afterwards. Such a verifier
 * throws `overloaded`, too, when the thread is.
 */
export function createThreadedVerifiers({
  clock,
}: {
  clock: Pick<Clock, 'sleep'>;
}): (deps: WebhookVerifierDeps) => WebhookVerifier {
  const module = entryUrl('adapters/github/webhook-functions');
  const thread = createThread<typeof functions>({ module, clock });
  return (deps) => {
    const here = createWebhookVerifier(deps);
    const secrets = deps.secrets.map((secret) => secret.reveal());
    return {
      verify: (delivery) => {
        const { rawBody } = delivery;
        if (!isHeavy(rawBody)) return here.verify(delivery);
        const job = { secrets, name: deps.name, repositoryId: deps.repositoryId?.(), delivery };
        return thread
          .run('verify', job, { transfer: transferablesOf(rawBody) })
          .catch(refuseThread);
      },
    };
  };
}
