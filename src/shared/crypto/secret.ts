import { inspect } from 'node:util';

/**
 * A value that cannot be printed by accident: logs, errors, JSON and `util.inspect` show
 * `[redacted]`. `reveal()` is the only way in, and easy to search for.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }

  [inspect.custom](): string {
    return '[redacted]';
  }
}

const WEBHOOK_SECRET =
  /^whsec_(?=.)((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** The key in a secret of Standard Webhooks: `whsec_` and its base64. Undefined: it is none. */
export function webhookSecretBytes(secret: string): Buffer | undefined {
  const [, text] = WEBHOOK_SECRET.exec(secret) ?? [];
  return text === undefined ? undefined : Buffer.from(text, 'base64');
}

/** Before `notBefore`, after `notAfter` (ms), or neither; both are inclusive. */
export type SecretStatus = 'active' | 'expired' | 'not-yet-active';

/** Status of a secret with these bounds at `now`. */
export function secretStatus(
  {
    notBefore = -Infinity,
    notAfter = Infinity,
  }: { notBefore?: number | undefined; notAfter?: number | undefined },
  now: number,
): SecretStatus {
  if (now > notAfter) return 'expired';
  return now < notBefore ? 'not-yet-active' : 'active';
}
