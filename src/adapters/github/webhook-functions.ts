/** Runs in a thread, for large deliveries of the tracker's webhook. */
import { Secret } from '#shared/crypto/secret.ts';
import { releaseMemory } from '#shared/bytes.ts';
import type { TrackerDelivery, TrackerEvent } from '#leads/lead-tracker.ts';
import type { RepositoryName } from './repository.ts';
import { createWebhookVerifier } from './webhook.ts';

export type VerifyJob = {
  secrets: readonly string[];
  name: RepositoryName;
  repositoryId: number | undefined;
  delivery: Omit<TrackerDelivery, 'rawBody'> & { rawBody: Uint8Array };
};

/** As `verify` of `createWebhookVerifier`; bytes arrive without being a `Buffer`. */
export async function verify(job: VerifyJob): Promise<TrackerEvent> {
  const { secrets, name, repositoryId, delivery } = job;
  const { buffer, byteOffset, byteLength } = delivery.rawBody;
  const verifier = createWebhookVerifier({
    secrets: secrets.map((secret) => new Secret(secret)),
    name,
    repositoryId: () => repositoryId,
  });
  try {
    const rawBody = Buffer.from(buffer, byteOffset, byteLength);
    return await verifier.verify({ ...delivery, rawBody });
  } finally {
    releaseMemory(delivery.rawBody);
  }
}
