/** Erasure certificates: a JWS by Ed25519 (RFC 7515, RFC 8037), which anybody can check offline. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, CompactSign, importJWK } from 'jose';
import {
  CERTIFICATE_TYPE,
  type CertificateClaims,
  certificateClaims,
  type CertificateKey,
  type CertificateSigner,
  type CertificateVerdict,
  noteKeyUsed,
  readKeys,
} from '#partners/receipts/certificate.ts';
import type { Clock } from '#shared/clock.ts';
import type { Statements } from '#shared/database.ts';
import { isRecord } from '#shared/text/json.ts';

const ALGORITHM = 'EdDSA';
const ED25519 = { kty: 'OKP', crv: 'Ed25519' } as const;
const ED25519_BYTES = 32;
/** Bytes before the seed in PKCS #8 (RFC 8410 section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A key is noted in the store before it signs for the first time in a process. */
export function createCertificateSigner({
  seed,
  db,
  clock,
}: {
  /** A sub-key of 32 bytes. */
  seed: KeyObject;
  db: Statements;
  clock: Clock;
}): CertificateSigner {
  const privateKey = privateKeyOf(seed);
  const own = publicKeyOf(privateKey);
  let isNoted = false;
  return {
    sign: async (claims) => {
      const { kid, x } = await own;
      if (!isNoted) await noteKeyUsed(db, { kid, x }, clock.now());
      isNoted = true;
      return new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ alg: ALGORITHM, typ: CERTIFICATE_TYPE, kid })
        .sign(privateKey);
    },
    keys: async () => readKeys(db, await own),
  };
}

function privateKeyOf(seed: KeyObject): KeyObject {
  const key = Buffer.concat([PKCS8_HEAD, seed.export()]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

async function publicKeyOf(privateKey: KeyObject): Promise<CertificateKey> {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  return { kid: await calculateJwkThumbprint(jwk), x: jwk.x ?? '' };
}

/**
 * Verifies that a file holds a certificate of one of the keys of a set. Of its own header the key id alone is
 * believed: no address that it names is asked.
 */
export async function verifyCertificate(
  text: string,
  keySet: unknown,
): Promise<CertificateVerdict> {
  const token = text.trim();
  const header = headerOf(token);
  if (!header) return refused('not-a-certificate', 'It is no signed text of three parts.');
  const { typ, alg, kid, crit } = header;
  if (typ !== CERTIFICATE_TYPE || alg !== ALGORITHM || crit !== undefined)
    return refused('not-a-certificate', `It is signed, but is no \`${CERTIFICATE_TYPE}\`.`);
  const key = keyIn(keySet, kid);
  if (!key) return refused('unknown-key', 'No key of the set has the id that it names.');
  const publicKey = await importJWK({ ...ED25519, x: key.x }, ALGORITHM);
  const verified = await compactVerify(token, publicKey).catch(() => undefined);
  if (!verified)
    return refused('altered', 'Its signature does not fit what it says: it was altered.');
  const claims = claimsIn(verified.payload);
  if (claims) return { isGood: true, kid: key.kid, claims };
  return refused(
    'not-a-certificate',
    'It is signed by this key, but its claims are not known here.',
  );
}

function claimsIn(payload: Uint8Array): CertificateClaims | undefined {
  try {
    return certificateClaims.parse(JSON.parse(Buffer.from(payload).toString()));
  } catch {
    return undefined;
  }
}

function refused(
  reason: Extract<CertificateVerdict, { isGood: false }>['reason'],
  detail: string,
): CertificateVerdict {
  return { isGood: false, reason, detail };
}

/** Undefined unless every part is spelled in the one way that there is: one more is an alteration. */
function headerOf(token: string): Record<string, unknown> | undefined {
  const parts = token.split('.');
  const bytes = parts.map((part) => Buffer.from(part, 'base64url'));
  const isSpelledSo = parts.every(
    (part, index) => part !== '' && bytes[index]?.toString('base64url') === part,
  );
  if (parts.length !== 3 || !isSpelledSo) return undefined;
  try {
    const header: unknown = JSON.parse(bytes[0]?.toString() ?? '');
    return isRecord(header) ? header : undefined;
  } catch {
    return undefined;
  }
}

/** A set may hold keys for other purposes, too. */
function keyIn(keySet: unknown, kid: unknown): CertificateKey | undefined {
  const keys = isRecord(keySet) && Array.isArray(keySet['keys']) ? keySet['keys'] : [];
  return keys.find(
    (key): key is CertificateKey =>
      isRecord(key) &&
      key['crv'] === ED25519.crv &&
      typeof key['x'] === 'string' &&
      Buffer.from(key['x'], 'base64url').length === ED25519_BYTES &&
      typeof kid === 'string' &&
      key['kid'] === kid,
  );
}
