import { inspectIssuer } from '#adapters/jose/key-set.ts';
import type { Config } from '#config/schema/schema.ts';
import type { Clock } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';

import { failed, ok } from '#shared/finding.ts';
import type { Finding } from '#shared/finding.ts';

/** The issuer of bearer tokens: its discovery document and its keys, as the service reads them. */
export async function checkIssuer(
  { issuer, jwksUri }: NonNullable<Config['identity']>,
  clock: Clock,
): Promise<Finding> {
  const { keys, failure } = await inspectIssuer({
    issuer,
    ...(jwksUri !== undefined && { keySetUrl: jwksUri }),
    clock,
    log: silentLog,
  });
  const subject = `issuer ${issuer}`;
  return failure === undefined
    ? ok(subject, `Found, with ${keys} key${keys === 1 ? '' : 's'}.`)
    : failed(
        subject,
        failure,
        'Write identity.issuer exactly as the issuer does, and see that this machine can reach it.',
      );
}
