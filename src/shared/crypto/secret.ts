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
