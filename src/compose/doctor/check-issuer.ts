import { z } from 'zod';

import type { Config } from '#config/schema.ts';
import { SECOND } from '#shared/clock.ts';

import { failed, ok, type Finding } from './finding.ts';

const TIMEOUT_MS = 5 * SECOND;

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.object({ keys: z.array(z.object({ kty: z.string() })) });

/** The issuer of bearer tokens: its discovery document and its keys. */
export async function checkIssuer(identity: NonNullable<Config['identity']>): Promise<Finding> {
  const subject = `issuer ${identity.issuer}`;
  const fix = 'Check identity.issuer, and that this machine can reach it.';
  try {
    const jwksUri = identity.jwksUri ?? (await discover(identity.issuer));
    if (jwksUri === undefined)
      return failed(
        subject,
        'Its discovery document names another issuer.',
        'Write identity.issuer exactly as the issuer does.',
      );
    const { keys } = keySet.parse(await fetchJson(jwksUri));
    return keys.length === 0
      ? failed(subject, 'It has no keys.', fix)
      : ok(subject, `Found, with ${keys.length} key${keys.length === 1 ? '' : 's'}.`);
  } catch {
    return failed(subject, 'Its discovery document or its keys cannot be read.', fix);
  }
}

/** @see OpenID Connect Discovery 1.0 section 4 */
async function discover(issuer: string): Promise<string | undefined> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document = discovery.parse(await fetchJson(address));
  return document.issuer === issuer ? document.jwks_uri : undefined;
}

async function fetchJson(address: string): Promise<unknown> {
  const answer = await fetch(address, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
}
