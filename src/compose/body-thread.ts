/** All functions of the thread of bodies, with which it begins. */
import type { VerifyJob } from '#adapters/github/webhook.ts';
import { bodyFunctions } from '#adapters/threads/body-readers.ts';
import type { TrackerEvent } from '#leads/lead-tracker.ts';

export const { parse, specBody, specText, delivery, form } = bodyFunctions;

/** A thread that gets no large delivery of the tracker goes without what reads them. */
export async function verify(job: VerifyJob): Promise<TrackerEvent> {
  return (await import('#adapters/github/webhook.ts')).verifyJob(job);
}
