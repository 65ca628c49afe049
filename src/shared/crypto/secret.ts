/** Secrets as the configuration gives them: never printed, and checked for their form. */
import { inspect } from 'node:util';
import { createPrivateKey, type KeyObject } from 'node:crypto';

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

/** `problem` says what is wrong and what to do; it never holds a part of the text. */
type PrivateKeyCheck = { kind: 'key'; pem: string } | { kind: 'refused'; problem: string };

/**
 * A GitHub App's private key as PKCS#8 PEM, from PKCS#1 or PKCS#8 with LF, CRLF or literal `\n`.
 * Quoted, base64-wrapped, encrypted, public and non-RSA keys are refused.
 */
export function normalizePrivateKey(text: string): PrivateKeyCheck {
  const trimmed = text.trim();
  if (trimmed === '') return refused('it is empty');
  if (/^["'`]|["'`]$/.test(trimmed))
    return refused('it is in quotation marks: give the PEM text without them');
  if (!trimmed.startsWith('-----BEGIN ')) return refused(withoutArmour(trimmed));
  const pem = trimmed.replaceAll(String.raw`\r`, '').replaceAll(String.raw`\n`, '\n');
  const key = toKey(pem.replaceAll('\r', ''));
  if (!key) return refused(unreadable(trimmed));
  if (key.asymmetricKeyType !== 'rsa') return refused('it is no RSA key');
  return { kind: 'key', pem: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function toKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    return undefined;
  }
}

function withoutArmour(text: string): string {
  return /^[A-Za-z0-9+/=_\s-]+$/.test(text)
    ? 'it looks like base64: decode it first, and give the PEM text that starts with -----BEGIN'
    : 'it does not start with -----BEGIN';
}

function unreadable(text: string): string {
  if (/ENCRYPTED/.test(text)) return 'it is encrypted: give it without a passphrase';
  if (/-----BEGIN [A-Z ]*(PUBLIC KEY|CERTIFICATE)/.test(text)) return 'it is not a private key';
  if (!/-----END [A-Z ]+-----$/.test(text)) return 'it is cut off: the line -----END … is missing';
  return 'it cannot be read: the lines between -----BEGIN and -----END are damaged';
}

function refused(problem: string): PrivateKeyCheck {
  return { kind: 'refused', problem: `The private key cannot be used: ${problem}.` };
}
