import type { Clock } from '#shared/clock.ts';
import { type SecretStatus, secretStatus } from '#shared/crypto/secret.ts';
import { secretDigest } from './intake/signing.ts';
import type { Partner, PartnerList } from './partner.ts';
import type { Traffic, TrafficSum } from './traffic.ts';

/** UTC days over which `refusals` look, today included. */
const REFUSAL_DAYS = 7;

/** A signing secret as people may see it: never itself. */
type SecretSummary = {
  /** Eight hexadecimal digits of its SHA-256. */
  digest: string;
  status: SecretStatus;
  /** Milliseconds since the Unix epoch; absent: always, or for ever. */
  notBefore?: number;
  notAfter?: number;
  /** Time at which it verified a call last, in the last 7 days. */
  lastVerifiedAt?: number;
};

/** Calls of one partner in the last 7 days that were refused for the same reason. */
type RefusalSum = { reason: string; count: number; lastAt: number };

/** A partner, and how its calls get through. */
export type PartnerSummary = Pick<
  Partner,
  'id' | 'scheme' | 'headers' | 'enabled' | 'requireBearer' | 'limitPerMinute' | 'expectEvery'
> & {
  secrets: readonly SecretSummary[];
  /** Time at which a call of its was verified last, in the last 7 days. */
  lastVerifiedAt?: number;
  /** Time of the last acceptance, where that is longer ago than expected. */
  silentSince?: number;
  /** The latest first. */
  refusals: readonly RefusalSum[];
};

/**
 * Every partner of the configuration, in its order, with what all instances saw of it; what the last
 * five seconds brought may be missing. @throws {store-unavailable}
 */
export async function listPartners({
  partners,
  traffic,
  silences,
  clock,
}: {
  partners: PartnerList;
  traffic: Pick<Traffic, 'read'>;
  /** See `readSilences`. */
  silences: () => Promise<ReadonlyMap<string, number | undefined>>;
  clock: Clock;
}): Promise<PartnerSummary[]> {
  const [sums, silent] = await Promise.all([traffic.read(REFUSAL_DAYS), silences()]);
  const now = clock.now();
  return partners.all().map((partner) => {
    const ofPartner = sums.filter(({ sender }) => sender === partner.id);
    return { ...summarize(partner, ofPartner, now), silentSince: silent.get(partner.id) };
  });
}

function summarize(partner: Partner, sums: readonly TrafficSum[], now: number): PartnerSummary {
  const { id, scheme, headers, enabled, requireBearer, limitPerMinute, expectEvery } = partner;
  const verified = sums.filter(({ kind }) => kind === 'verified');
  const last = verified[0]?.lastAt;
  return {
    id,
    scheme,
    headers,
    enabled,
    requireBearer,
    limitPerMinute,
    expectEvery,
    secrets: partner.secrets.map((secret) => summarizeSecret(secret, verified, now)),
    lastVerifiedAt: last,
    refusals: sums
      .filter(({ kind }) => kind === 'refused')
      .map(({ detail, count, lastAt }) => ({ reason: detail, count, lastAt })),
  };
}

function summarizeSecret(
  secret: Partner['secrets'][number],
  verified: readonly TrafficSum[],
  now: number,
): SecretSummary {
  const { notBefore, notAfter } = secret;
  const digest = secretDigest(secret.value);
  const last = verified.find(({ detail }) => detail === digest)?.lastAt;
  return { digest, status: secretStatus(secret, now), notBefore, notAfter, lastVerifiedAt: last };
}
