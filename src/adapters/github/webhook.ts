import { Webhooks } from '@octokit/webhooks';
import { z } from 'zod';
import { type TrackerDelivery, type TrackerEvent, unsignedDelivery } from '#leads/lead-tracker.ts';
import { isRecord, parseTrustedJson } from '#shared/text/json.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { releaseMemory } from '#shared/bytes.ts';
import { isName, issueSchema } from './issue.ts';
import type { RepositoryName } from './repository.ts';

export type WebhookVerifier = {
  /**
   * Reads the change of the configured repository from a genuine delivery.
   * @throws {unauthorized} unless the signature holds under one of the secrets
   * @throws {malformed-json} when it holds but the body is no JSON
   */
  verify(delivery: TrackerDelivery): Promise<TrackerEvent>;
};

/** The repository whose webhook is accepted. */
export type WebhookSource = {
  /** All that are accepted, so that one can be replaced without a gap. None: nothing is genuine. */
  secrets: readonly Secret[];
  name: RepositoryName;
  /** The repository's numeric id once it is known: it outlives a new name. */
  repositoryId?: () => number | undefined;
};

/** @see https://docs.github.com/en/webhooks/webhook-events-and-payloads */
export function createWebhookVerifier(source: WebhookSource): WebhookVerifier {
  const verifiers = source.secrets
    .map((secret) => secret.reveal())
    .filter((secret) => secret !== '')
    .map((secret) => new Webhooks({ secret }));

  return {
    verify: async ({ event, signature = '', rawBody }) => {
      const text = rawBody.toString('utf8');
      if (text === '' || signature === '') throw unsignedDelivery();
      const verdicts = await Promise.all(verifiers.map(({ verify }) => verify(text, signature)));
      if (!verdicts.includes(true)) throw unsignedDelivery();
      // The tracker writes each name once. Should it ever not: a lost event would be worse than a doubt.
      // The bytes of this text are what was signed: nothing was lost when they were decoded.
      return toTrackerEvent(source, event, parseTrustedJson(text));
    },
  };
}

/** A large delivery, for a thread. */
export type VerifyJob = {
  secrets: readonly string[];
  name: RepositoryName;
  repositoryId: number | undefined;
  delivery: Omit<TrackerDelivery, 'rawBody'> & { rawBody: Uint8Array };
};

/** As `verify` of `createWebhookVerifier`, in a thread: there bytes arrive without being a `Buffer`. */
export async function verifyJob(job: VerifyJob): Promise<TrackerEvent> {
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

const IGNORED: TrackerEvent = { kind: 'ignored' };
const TRANSFERRED = 'transferred';

/**
 * Never throws: the body is genuine, but the event's name is not signed, and the tracker adds events
 * and keys without notice. Text of the body stays in the issue; `changes` is looked at for names only.
 */
function toTrackerEvent(
  source: WebhookSource,
  event: string | undefined,
  payload: unknown,
): TrackerEvent {
  if (!isOurs(source, payload)) return IGNORED;
  if (event === 'label') return toLabelEvent(payload);
  if (event === 'repository') return { kind: 'everything' };
  return event === 'issues' ? toIssueEvent(payload) : IGNORED;
}

const renamedLabel = z.object({
  label: z.object({ name: z.string() }),
  changes: z.object({ name: z.object({ from: z.string() }) }),
});

function toLabelEvent(payload: unknown): TrackerEvent {
  const renamed = renamedLabel.safeParse(payload).data;
  if (!renamed) return { kind: 'everything' };
  const { from } = renamed.changes.name;
  const to = renamed.label.name;
  // Every lead that carries it would be written with a name that no label can have.
  if (![from, to].every(isName)) return { kind: 'everything' };
  return { kind: 'everything', renamedLabel: { from, to } };
}

function toIssueEvent(payload: unknown): TrackerEvent {
  // A comment's event sent again under this name would tell `deleted` of the comment.
  if (typeof payload === 'object' && payload !== null && 'comment' in payload) return IGNORED;
  const parsed = issueEvent.safeParse(payload);
  // An issue changed, but which one cannot be read.
  if (!parsed.success) return { kind: 'everything' };
  const { action, issue } = parsed.data;
  if (issue.isPullRequest) return IGNORED;
  const isMoved = action === TRANSFERRED;
  return {
    kind: 'issue',
    issue,
    isGone: action === 'deleted' || isMoved,
    ...(isMoved && { isMoved }),
  };
}

/** Made once: zod compiles each schema that it meets. */
const issueEvent = z.object({ action: z.string(), issue: issueSchema });

const rename = z.object({
  repository: z.object({ name: z.object({ from: z.string() }) }),
});
const login = z.object({ login: z.string() });
const move = z.object({
  owner: z.object({ from: z.object({ user: login.nullish(), organization: login.nullish() }) }),
});

/** By name without regard to case, by numeric id, or by the name before it was renamed or moved. */
function isOurs({ name, repositoryId }: WebhookSource, payload: unknown): boolean {
  if (!isRecord(payload) || !isRecord(payload['repository'])) return false;
  const { repository, changes } = payload;
  if (typeof repository['id'] === 'number' && repository['id'] === repositoryId?.()) return true;
  const ours = fold(`${name.owner}/${name.repo}`);
  return (
    fold(textOf(repository['full_name'])) === ours ||
    formerNames(repository, changes).some((fullName) => fold(fullName) === ours)
  );
}

function formerNames(repository: Record<string, unknown>, changes: unknown): readonly string[] {
  if (!isRecord(changes)) return [];
  // A schema that does not fit costs more than all else here.
  const renamed = 'repository' in changes && rename.safeParse(changes).data?.repository.name.from;
  const owner = 'owner' in changes ? formerOwner(changes) : undefined;
  return [
    ...(renamed ? [`${ownerOf(repository)}/${renamed}`] : []),
    ...(owner ? [`${owner}/${textOf(repository['name'])}`] : []),
  ];
}

function formerOwner(changes: unknown): string | undefined {
  const from = move.safeParse(changes).data?.owner.from;
  return from?.user?.login ?? from?.organization?.login;
}

function ownerOf({ owner }: Record<string, unknown>): string {
  return isRecord(owner) ? textOf(owner['login']) : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function fold(text: string): string {
  return text.toLowerCase();
}
