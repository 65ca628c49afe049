/** Why calls are refused, in words, and whose mistake it most likely is. */
export type RefusalReason = { words: string; remedy: string };

const REASONS: Readonly<Record<string, RefusalReason>> = {
  'signature-missing': {
    words: 'Signature missing',
    remedy: 'Its sender does not set the signature header.',
  },
  'signature-malformed': {
    words: 'Signature malformed',
    remedy: 'Its sender uses another scheme, or writes the header otherwise.',
  },
  'signature-wrong': {
    words: 'Signature wrong',
    remedy:
      'Another secret, or something between changes the body; with signature-v3 also the address.',
  },
  'secret-expired': {
    words: 'Secret has ended',
    remedy: 'The partner still signs with the old secret: it has to take the new one.',
  },
  'secret-not-yet-active': {
    words: 'Secret not active yet',
    remedy: 'The partner signs with the new secret too early: move its notBefore forward.',
  },
  'timestamp-malformed': {
    words: 'Timestamp malformed',
    remedy: 'Its sender must send milliseconds since 1970 in 13 digits.',
  },
  'timestamp-outside-window': {
    words: 'Timestamp too far off',
    remedy: 'One of the two clocks is wrong, or calls lie in a queue for over five minutes.',
  },
  bearer: {
    words: 'Bearer token refused',
    remedy: 'Its signature was good: it needs a token of the issuer beside it.',
  },
  limit: {
    words: 'Over its limit',
    remedy: 'It calls more often than limitPerMinute allows: spread the calls, or raise the limit.',
  },
};

/** A reason that is not known here stands for itself. */
export function reasonOf(code: string): RefusalReason {
  return REASONS[code] ?? { words: code, remedy: 'See the log: it names the reason.' };
}
