/** Why deliveries of the tracker are refused, in words, and what to do about it. */
type RefusalWords = { words: string; remedy: string };

const REASONS: Readonly<Record<string, RefusalWords>> = {
  'signature-missing': {
    words: 'not signed',
    remedy: 'Check the secret: the webhook has none. Give it one of tracker.webhookSecrets.',
  },
  'signature-malformed': {
    words: 'signature malformed',
    remedy: 'See what stands between the tracker and this service: it changes the headers.',
  },
  'signature-wrong': {
    words: 'signature wrong',
    remedy: 'Check the secret: the webhook’s must be one of tracker.webhookSecrets.',
  },
  'content-type': {
    words: 'wrong content type',
    remedy: 'Set the webhook’s content type to application/json.',
  },
  'too-large': {
    words: 'over 25 MiB',
    remedy: 'Nothing is lost: the tracker is asked again in time.',
  },
  malformed: {
    words: 'not JSON',
    remedy: 'Its signature is good: see what made the body, and redeliver.',
  },
};

/** A reason that is not known here stands for itself. */
export function webhookRefusalOf(reason: string): RefusalWords {
  if (Object.hasOwn(REASONS, reason)) return REASONS[reason] ?? unknown(reason);
  return unknown(reason);
}

function unknown(reason: string): RefusalWords {
  return { words: reason, remedy: 'See the log: it names the reason.' };
}
