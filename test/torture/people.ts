import { emailsIn, type LeadIdentity } from '#leads/model/identity.ts';
import { externalId } from '../support/identities.ts';
import { signedBy } from '../support/signed-by.ts';
import { type Edit, edits } from './edits.ts';

export const SECRETS = { 'crm-one': 'secret-one', 'crm-two': 'secret-two', 'crm-three': 'three' };
export type PartnerId = keyof typeof SECRETS;

/** Somebody with leads, and what is to become of them. */
export type Person = {
  email: string;
  /** The body as a salesperson leaves it, where `edit` says so. */
  correctedEmail: string;
  partner: PartnerId;
  objectId: string;
  /** Both a plain deletion and one for erasure are sent. */
  privacy: boolean;
  leads: number;
  /** Done by salespeople to the leads before they are deleted. */
  edit: Edit;
};

/** A deletion that was answered 202. */
export type Acknowledged = {
  receiptId: string;
  person: Person;
  numbers: readonly number[];
  /** True once somebody edited the leads as the person's `edit` says. */
  wasEdited: boolean;
};

/** The `index`-th person: every partner, way of matching, edit and number of leads comes up. */
export function personAt(index: number): Person {
  const partner = (['crm-one', 'crm-two', 'crm-three'] as const)[index % 3] ?? 'crm-one';
  return {
    email: `person-${index}@tortured.example`,
    correctedEmail: `corrected-${index}@tortured.example`,
    partner,
    objectId: String(10_000 + index),
    privacy: partner === 'crm-two' && index % 2 === 0,
    leads: index % 4 === 3 ? 3 : 1,
    edit: edits[index % edits.length] ?? 'nothing',
  };
}

/** A lead of the person, as the portal makes it; what a visitor typed stands in the message. */
export function issueOf({ email, objectId }: Pick<Person, 'email' | 'objectId'>, message?: string) {
  const fields = {
    'First name': 'Tortured Ada',
    Email: email,
    Company: 'Analytical Engines',
    Interest: '_No response_',
    Message: message ?? `Please call ${email} back.`,
    'Source page': '/pricing',
  };
  return {
    title: `Request of ${email}`,
    author: 'acme-portal[bot]',
    labels: ['approved', 'eu'],
    body: [
      ...Object.entries(fields).map(([heading, text]) => `### ${heading}\n\n${text}\n`),
      blockOf(objectId),
    ].join('\n'),
  };
}

/** The form of a visitor who wants others to lose their leads with the person: a lookalike. */
export function lookalikeOf({ email, objectId }: Person): string {
  return `### Email\n\n${email}\n\n### Source page\n\n${email}\n\n${blockOf(objectId)}`;
}

function blockOf(objectId: string): string {
  return `<!-- trackport\nexternalIds: { crm-two: "${objectId}" }\n-->`;
}

/** By all of these each lead of the person is to be found, whatever salespeople did to it. */
export function identitiesOf(person: Person, wasEdited: boolean): LeadIdentity[] {
  const { email, correctedEmail, objectId, edit } = person;
  const isCorrected = wasEdited && edit === 'corrected-email';
  return [
    externalId('crm-two', objectId),
    ...[email, ...(isCorrected ? [correctedEmail] : [])].flatMap(emailsIn),
  ];
}

/** The deliveries that delete a person, by one of the identities: the body of each. */
export function deletionsOf(person: Person, wasEdited: boolean): object[] {
  const { objectId, partner, privacy } = person;
  if (partner !== 'crm-two') {
    const emails = identitiesOf(person, wasEdited).filter(({ kind }) => kind === 'email');
    const email = emails[Number(objectId) % emails.length]?.value;
    const isWrittenOut = Number(objectId) % 5 === 0;
    return [{ email: isWrittenOut ? `A Person <${email}>` : email, eventId: objectId }];
  }
  const event = { objectId: Number(objectId), portalId: 1, occurredAt: 1 };
  const plain = { ...event, eventId: 1, subscriptionType: 'contact.deletion' };
  if (!privacy) return [[plain]];
  return [[plain], [{ ...event, eventId: 2, subscriptionType: 'contact.privacyDeletion' }]];
}

/** Headers of a signed call; a new timestamp for every try. */
export function signed(partner: PartnerId, uri: string, body: string): Record<string, string> {
  const scheme = partner === 'crm-two' ? 'signature-v3' : 'hmac-sha256';
  return signedBy(scheme, SECRETS[partner], { uri, body });
}
