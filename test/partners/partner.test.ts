import { expect, test } from 'vitest';
import { toPartnerList } from '#partners/partner.ts';
import { secretsOf } from '../support/partners.ts';

test('rules set fields by the names that the tracker has for them', () => {
  const crm = {
    scheme: 'hmac-sha256' as const,
    secrets: secretsOf('s'),
    events: [{ type: 'won', setFields: { region: 'EMEA', Size: 4 } }, { type: 'lost' }],
  };
  const leads = { issueFields: { region: 'Sales region' } };
  const list = toPartnerList({ partners: { 'crm-one': crm }, leads });
  const [won, lost] = list.all()[0]?.events ?? [];
  expect(won).toMatchObject({ type: 'won', setFields: { 'Sales region': 'EMEA', Size: 4 } });
  expect(lost).not.toHaveProperty('setFields');
});
