import { expect, test } from 'vitest';
import type { PartnerSummary } from '#partners/list-partners.ts';
import { refusalOf, verdictOf } from '#portal/pages/partners.ts';
import { DAY, MINUTE } from '#shared/clock.ts';
import { partnerRefusals } from '#shared/outcomes/callers.ts';
import { viewer } from '../../shell/support.ts';

const { nowMs } = viewer;

const partner = (given: Partial<PartnerSummary> = {}): PartnerSummary => ({
  id: 'crm-one',
  scheme: 'hmac-sha256',
  headers: { signature: 'X-Partner-Signature', timestamp: '', id: '' },
  enabled: true,
  requireBearer: false,
  secrets: [{ digest: 'e91c07a4', status: 'active' }],
  lastVerifiedAt: nowMs - 3 * MINUTE,
  refusals: [],
  ...given,
});

const refusal = (reason: string, lastAt: number) => ({ reason, count: 35, lastAt });
const wordsFor = (given: Partial<PartnerSummary>) => verdictOf(partner(given), nowMs).title;

test('the gravest thing about a partner is what is said of it', () => {
  const ending = { digest: '03fa9c6e', status: 'active' as const, notAfter: nowMs + 9 * DAY };
  const ended = { digest: '7d20be15', status: 'expired' as const, notAfter: nowMs - 1 };
  const before = nowMs - DAY;
  expect(wordsFor({})).toBe('Receiving');
  expect(wordsFor({ enabled: false, secrets: [] })).toBe('Disabled');
  expect(wordsFor({ secrets: [] })).toBe('No active secret');
  expect(wordsFor({ secrets: [ended] })).toBe('No active secret');
  expect(wordsFor({ refusals: [refusal('limit', before)] })).toBe('Some refused');
  expect(wordsFor({ refusals: [refusal('limit', nowMs)] })).toBe('Last call refused');
  expect(wordsFor({ silentSince: before })).toBe('Silent');
  expect(wordsFor({ silentSince: before, secrets: [ending] })).toBe('Silent');
  expect(wordsFor({ silentSince: before, refusals: [refusal('limit', nowMs)] })).toBe(
    'Last call refused',
  );
  expect(wordsFor({ secrets: [ending] })).toBe('Secret ends soon');
  expect(wordsFor({ secrets: [ending, ...partner().secrets] })).toBe('Receiving');
  const { lastVerifiedAt: _, ...silent } = partner();
  expect(verdictOf(silent, nowMs).title).toBe('Nothing in 7 days');
  const refused = { ...silent, refusals: [refusal('signature-wrong', before)] };
  expect(verdictOf(refused, nowMs)).toMatchObject({ urgency: 'bad', title: 'Last call refused' });
});

test('a reason that is not known stands for itself', () => {
  for (const reason of ['new-one', 'toString'])
    expect(refusalOf(partnerRefusals, reason).title).toBe(reason);
});
