import { createHmac } from 'node:crypto';
import { toSignedUri } from '../signed-uri.ts';
import type { SignedContent, SignedTime, Signing } from './signing.ts';

/** A keyed hash over a text with placeholders. */
export type HmacForm = {
  algorithm: 'sha256' | 'sha512';
  encoding: 'hex' | 'base64';
  /** Before the digits. */
  prefix: string;
  /** `{body}`, `{timestamp}`, `{method}` and `{url}` stand for what the request has. */
  content: string;
  time?: SignedTime;
  /** What is what in a header such as `t=…,v1=…`. */
  pairs?: { timestamp?: string; signature: string };
  /** Whether the address is signed with the twelve escapes decoded. */
  decodesUrl?: boolean;
};

const DIGITS = {
  sha256: { hex: /^[0-9a-fA-F]{64}$/, base64: /^[A-Za-z0-9+/]{43}=$/ },
  sha512: { hex: /^[0-9a-fA-F]{128}$/, base64: /^[A-Za-z0-9+/]{86}==$/ },
} as const;

const PLACEHOLDER = /\{(body|timestamp|method|url)\}/;

/** How a partner signs by a keyed hash of that form. */
export function createHmacSigning(form: HmacForm): Signing {
  const { algorithm, encoding, prefix, content, time, pairs } = form;
  const parts = content.split(PLACEHOLDER).map(toPart);

  /** Of one signature there is one spelling. */
  const normalize = (text: string): string[] => {
    const digits = text.slice(prefix.length);
    if (!text.startsWith(prefix) || !DIGITS[algorithm][encoding].test(digits)) return [];
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

/** What a header such as `t=…,v1=…` says under a name, in order. */
function valuesOf(header: string, name: string): string[] {
  return header
    .split(/, ?/)
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
