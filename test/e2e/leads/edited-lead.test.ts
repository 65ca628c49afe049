import { expect, test } from 'vitest';
import type { Lead, LeadList } from '#leads/model/lead-out.ts';
import { compose, openTracker } from '../support/world.ts';

const leads = {
  portalAuthors: ['acme-portal[bot]'],
  url: true,
  form: {
    firstName: 'First name',
    email: 'Email',
    budget: { heading: 'Budget', expose: true },
    consent: 'Consent',
    message: 'Message',
    sourcePage: 'Source page',
  },
};

const body = `Called her, **wants a demo**.

### First name

Ada
or Augusta

### Email

ada@example.com

Budget was raised:
### Budget

5,000

### Consent

- [X] yes

### Message

Hello

### Source page

/pricing

<!-- trackport
correlationId: c-1
externalIds: { crm-two: "x-4711" }
-->

Called again, no answer.
`;

test('a lead that a salesperson edited has its contact, its ids and its address, and shows no block', async () => {
  const tracker = await openTracker();
  tracker.createIssue({ title: 'Demo', body, labels: ['approved'], author: 'acme-portal[bot]' });
  const { get } = await compose({ apiUrl: tracker.url, settings: { leads } });

  const lead = (await (await get('/api/v1/leads/1')).json()) as Lead;
  expect(lead).toMatchObject({
    url: expect.stringMatching(/^http.*\/acme\/leads\/issues\/1$/),
    contact: {
      firstName: 'Ada',
      email: 'ada@example.com',
      message: 'Hello',
      sourcePage: '/pricing',
      fields: { budget: '5,000' },
    },
    connect: { correlationId: 'c-1' },
  });
  expect(lead.contact).not.toHaveProperty('consent');
  const list = (await (await get('/api/v1/leads')).json()) as LeadList;
  expect(list.items).toEqual([lead]);
  expect(JSON.stringify(list)).not.toContain('x-4711');
});
