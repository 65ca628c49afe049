import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { Webhook } from 'standardwebhooks';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { type Secret, type SecretStatus, webhookSecretBytes } from '#shared/crypto/secret.ts';
import { toPathAndQuery } from '#shared/text/address.ts';

/** Content that is signed; the scheme says which of it. */
export type SignedContent = {
  /** As on the wire. */
  method: string;
  /** The public address that was requested, escapes as they came. */
  uri: string;
  /** The raw bytes of the body. */
  body: Buffer;
  /** As it stands in its header. */
  timestamp: string;
  /** The message's, where it has one. */
  id?: string;
};

/** A signed time: how its digits count, and how far off it may be, before and after. */
export type SignedTime = {
  unit: 's' | 'ms';
  toleranceMs: number;
  /** Reads a time in words, such as 2026-01-31T00:00:00Z, as well. */
  takesText?: boolean;
};

/** A partner's way to sign: all that differs between the schemes. */
export type Signing = {
  /** Kind of the signature; to refuse a call costs the same within one kind. */
  kind: 'sha256' | 'sha512' | 'standard-webhooks';
  /** True when the public address is signed. */
  coversUrl: boolean;
  /** True when a message's id is signed, and stands in a header of its own. */
  coversId: boolean;
  /** Absent: no time is signed. */
  time?: SignedTime;
  /**
   * The signatures that the header's value holds, of each the one spelling that is compared; none: it is
   * malformed. `timestamps` where the time stands in the same header.
   */
  read: (value: string) => { signatures: readonly string[]; timestamps?: readonly string[] };
  /** The signature of this content. */
  sign: (key: KeyObject, content: SignedContent) => string;
  /** The value of the header with this signature. */
  write: (signature: string, timestamp: string) => string;
  /** The key in a secret, where that is not its text. */
  keyBytes?: (secret: string) => Buffer | undefined;
};

/** A keyed hash over a text with placeholders. */
export type HmacForm = {
  algorithm: 'sha256' | 'sha512';
  encoding: 'hex' | 'base64';
  /** Before the digits. Where it ends in a blank, any blanks may stand there. */
  prefix: string;
  /** `{body}`, `{timestamp}`, `{method}` and `{url}` stand for what the request has. */
  content: string;
  time?: SignedTime;
  /** Names in a header such as `t=…,v1=…`. */
  pairs?: { timestamp?: string; signature: string };
  /** Signs the address with the twelve escapes decoded. */
  decodesUrl?: boolean;
};

const DIGITS = {
  sha256: { hex: /^[0-9a-fA-F]{64}$/, base64: /^[A-Za-z0-9+/]{43}=$/ },
  sha512: { hex: /^[0-9a-fA-F]{128}$/, base64: /^[A-Za-z0-9+/]{86}==$/ },
} as const;

const PLACEHOLDER = /\{(body|timestamp|method|url)\}/;

/** The way to sign by a keyed hash of that form. */
export function createHmacSigning(form: HmacForm): Signing {
  const { algorithm, encoding, content, time, pairs } = form;
  const parts = content.split(PLACEHOLDER).map(toPart);
  // A header's value begins with no blank; however many end the prefix, they are one.
  const prefix = form.prefix.trimStart().replace(/ +$/, ' ');
  const word = prefix.trimEnd();

  /** Of one signature there is one spelling. */
  const normalize = (text: string): string[] => {
    if (!text.startsWith(word)) return [];
    const rest = text.slice(word.length);
    const digits = word === prefix ? rest : rest.trimStart();
    if (!DIGITS[algorithm][encoding].test(digits)) return [];
    return [prefix + (encoding === 'hex' ? digits.toLowerCase() : digits)];
  };

  function toPart(text: string, at: number): (content: SignedContent) => Buffer | string {
    if (at % 2 === 0) return () => text;
    if (text !== 'url') return (content) => content[text as 'body' | 'timestamp' | 'method'];
    return ({ uri }) => (form.decodesUrl ? toSignedUri(uri) : uri);
  }

  return {
    kind: algorithm,
    coversUrl: content.includes('{url}'),
    coversId: false,
    time,
    read: (value) => {
      if (!pairs) return { signatures: normalize(value) };
      const { timestamp, signature } = pairs;
      return {
        signatures: valuesOf(value, signature).flatMap(normalize),
        ...(timestamp !== undefined && { timestamps: valuesOf(value, timestamp) }),
      };
    },
    sign: (key, content) => {
      const hmac = createHmac(algorithm, key);
      for (const part of parts) hmac.update(part(content));
      return prefix + hmac.digest(encoding);
    },
    write: (signature, timestamp) =>
      pairs
        ? [
            ...(pairs.timestamp === undefined ? [] : [`${pairs.timestamp}=${timestamp}`]),
            `${pairs.signature}=${signature}`,
          ].join(',')
        : signature,
  };
}

/** Values of a header such as `t=…,v1=…` under a name, in order. */
function valuesOf(header: string, name: string): string[] {
  return header
    .split(/[ \t]*,[ \t]*/)
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1).replace(/^[ \t]+/, ''));
}

/** Name of a partner's way to sign; `hmac` as its configuration says. */
export type Scheme = FixedScheme | 'hmac';

/** A scheme whose form is known. */
export type FixedScheme = 'hmac-sha256' | 'signature-v3' | 'standard-webhooks';

const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/;

/**
 * The symmetric signatures of the specification, by its own library. That signs text, and would read any
 * bytes that are no UTF-8 as the same: no signature covers these.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
const standardWebhooks: Signing = {
  kind: 'standard-webhooks',
  coversUrl: false,
  coversId: true,
  time: { unit: 's', toleranceMs: 5 * MINUTE },
  read: (value) => ({ signatures: value.split(' ').filter((text) => SIGNATURE.test(text)) }),
  sign: (key, { id = '', timestamp, body }) => {
    const webhook = new Webhook(key.export(), { format: 'raw' });
    const signature = webhook.sign(id, new Date(Number(timestamp) * SECOND), body);
    return isUtf8(body) ? signature : '';
  },
  write: (signature) => signature,
  keyBytes: webhookSecretBytes,
};

/**
 * @see https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 * @see https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation
 */
export const fixedSignings: Readonly<Record<FixedScheme, Signing>> = {
  'hmac-sha256': createHmacSigning({
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'sha256=',
    content: '{body}',
  }),
  'signature-v3': createHmacSigning({
    algorithm: 'sha256',
    encoding: 'base64',
    prefix: '',
    content: '{method}{url}{body}{timestamp}',
    time: { unit: 'ms', toleranceMs: 5 * MINUTE },
    decodesUrl: true,
  }),
  'standard-webhooks': standardWebhooks,
};

export function isFixedScheme(name: string | undefined): name is FixedScheme {
  return name !== undefined && Object.hasOwn(fixedSignings, name);
}

/** Exactly the twelve escapes that senders of the v3 scheme decode before they sign. */
const DECODED_ESCAPES = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** The URI with the twelve escapes decoded, once; all others stay as they are. */
export function toSignedUri(uri: string): string {
  return uri.replace(DECODED_ESCAPES, (escape) => decodeURIComponent(escape));
}

/**
 * The public address of a request. Only path and query come from the request: scheme and host are the
 * configuration's, because a proxy, the `Host` header or an absolute request line may name others.
 */
export function toPublicUri(publicUrl: string, requestTarget: string): string {
  return publicUrl.replace(/\/+$/, '') + toPathAndQuery(requestTarget);
}

/** A signing secret, active from `notBefore` on and until `notAfter` (ms), both inclusive. */
export type PartnerSecret = { value: Secret; notBefore?: number; notAfter?: number };

/** A key to try, the start of its secret's digest, and whether the secret may sign at this time. */
export type TriedKey = { key: KeyObject; status: SecretStatus; digest: string };

/** Stands for a secret where people look: eight hexadecimal digits of its SHA-256. */
export function secretDigest(secret: Secret): string {
  return sha256Hex(secret.reveal()).slice(0, 8);
}

/** The key that a secret stands for. @throws {TypeError} it is empty, or none for this scheme */
export function signingKey(secret: Secret, signing: Pick<Signing, 'keyBytes'> = {}): KeyObject {
  const text = secret.reveal();
  const bytes = signing.keyBytes ? signing.keyBytes(text) : Buffer.from(text);
  if (!bytes?.length) throw new TypeError('a signing secret is empty or of another form');
  return createSecretKey(bytes);
}
