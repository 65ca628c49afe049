/** Certificates, as partners would file them after all of it, beside what is on the tracker. */
import { verifyCertificate } from '#adapters/jose/certificates.ts';
import type { CertificateClaims } from '#partners/receipts/certificate.ts';
import { REDACTED_BODY, REDACTED_TITLE } from '#partners/worker/act/issue-edit.ts';
import type { Acknowledged } from './people.ts';
import type { Run } from './run.ts';

/** The certificate of each receipt, where it holds. */
export type Certificates = ReadonlyMap<string, CertificateClaims | string>;

/** From one instance after the other, by the keys of the next. */
export async function fileCertificates({
  acknowledged,
  addresses,
  instances,
}: Run): Promise<Certificates> {
  const filed = new Map<string, CertificateClaims | string>();
  for (const [index, { receiptId }] of acknowledged.entries()) {
    const [one, next] = [index, index + 1].map((at) => instances[at % instances.length]?.url ?? '');
    const headers = { accept: 'application/jwt' };
    const response = await fetch(`${one}${addresses.get(receiptId)}`, { headers });
    const text = await response.text();
    const keys: unknown = await (await fetch(`${next}/.well-known/jwks.json`)).json();
    const verdict = await verifyCertificate(text, keys);
    filed.set(receiptId, verdict.isGood ? verdict.claims : `${response.status} ${verdict.detail}`);
  }
  return filed;
}

type Issue = { title: string; body: string; comments: { body: string }[] };

/** Finds certificates of deletions that say more than is true of their issues. */
export function overstatementsOf(
  { receiptId, numbers }: Acknowledged,
  certificates: Certificates,
  issues: ReadonlyMap<number, Issue>,
): string[] {
  const claims = certificates.get(receiptId);
  if (typeof claims !== 'object')
    return [`the certificate of ${receiptId} does not hold: ${claims}`];
  const faults: string[] = [];
  const found = numbers.flatMap((number) => issues.get(number) ?? []);
  for (const {
    outcome,
    erasure,
    remains = [],
    claimedAt,
    releasedAt,
    completedAt,
  } of claims.events) {
    const check = (holds: boolean, fault: string): void => {
      if (!holds) faults.push(`the certificate of ${receiptId} ${fault}`);
    };
    check(outcome === 'DONE' && completedAt !== undefined, `says ${outcome}`);
    check(
      claimedAt !== undefined && releasedAt === undefined,
      'does not say that it hides the lead',
    );
    check(Date.parse(completedAt ?? '') <= claims.iat * 1000, 'says what came later');
    check(erasure !== 'complete' || found.length === 0, 'calls complete what is not');
    const hasText = found.some(
      ({ title, body }) => title !== REDACTED_TITLE || body !== REDACTED_BODY,
    );
    check(remains.includes('text') || !hasText, 'lacks the text that remains');
    // A deletion that took its turn before the one that redacts saw text, which it says.
    const saysText = remains.includes('text');
    check(remains.includes('history') || saysText || found.length === 0, 'lacks the history');
    const hasComments = found.some(({ comments }) => comments.some(({ body }) => !isOurs(body)));
    check(remains.includes('comments') || !hasComments, 'lacks comments that remain');
  }
  return faults;
}

const isOurs = (body: string): boolean => body.includes('<!-- trackport receipt');
