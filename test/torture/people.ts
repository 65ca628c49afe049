import { createHmac } from 'node:crypto';

export const SECRETS = { 'crm-one': 'secret-one', 'crm-two': 'secret-two', 'crm-three': 'three' };
export type PartnerId = keyof typeof SECRETS;

/** Somebody with leads, and what is to become of them. */
export type Person = {
  email: string;
  partner: PartnerId;
  objectId: string;
  /** Both a plain deletion and one for erasure are sent. */
  privacy: boolean;
  leads: number;
};

/** The `index`-th person: every partner, way of matching and number of leads comes up. */
export function personAt(index: number): Person {
  const partner = (['crm-one', 'crm-two', 'crm-three'] as const)[index % 3] ?? 'crm-one';
  return {
    email: `person-${index}@tortured.example`,
    partner,
    objectId: String(10_000 + index),
    privacy: partner === 'crm-two' && index % 2 === 0,
    leads: index % 4 === 3 ? 3 : 1,
  };
}

/** A lead of the person, as the portal makes it. */
export function issueOf(person: Person) {
  return {
    title: `Request of ${person.email}`,
    author: 'acme-portal[bot]',
    labels: ['approved', 'eu'],
    body: [
      '### First name',
      'Tortured Ada',
      '### Email',
      person.email,
      '### Message',
      `Please call ${person.email} back.`,
      '',
      '<!-- trackport',
      `externalIds: { crm-two: "${person.objectId}" }`,
      '-->',
    ].join('\n\n'),
  };
}

/** The deliveries that delete a person: the body of each. */
export function deletionsOf(person: Person): object[] {
  if (person.partner !== 'crm-two') return [{ email: person.email, eventId: person.objectId }];
  const event = { objectId: Number(person.objectId), portalId: 1, occurredAt: 1 };
  const plain = { ...event, eventId: 1, subscriptionType: 'contact.deletion' };
  if (!person.privacy) return [[plain]];
  return [[plain], [{ ...event, eventId: 2, subscriptionType: 'contact.privacyDeletion' }]];
}

/** Headers of a signed call; a new timestamp for every try. */
export function signed(partner: PartnerId, uri: string, body: string): Record<string, string> {
  const json = { 'content-type': 'application/json' };
  const mac = createHmac('sha256', SECRETS[partner]);
  if (partner !== 'crm-two')
    return { ...json, 'x-partner-signature': `sha256=${mac.update(body).digest('hex')}` };
  const timestamp = String(Date.now());
  return {
    ...json,
    'x-vendor-request-timestamp': timestamp,
    'x-vendor-signature-v3': mac.update(`POST${uri}${body}${timestamp}`).digest('base64'),
  };
}
