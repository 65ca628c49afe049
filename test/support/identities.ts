import {
  correlationIdIn,
  emailsIn,
  externalIdIn,
  type LeadIdentity,
} from '#leads/model/identity.ts';

function existing(identity: LeadIdentity | undefined): LeadIdentity {
  if (!identity) throw new Error('this text names nobody');
  return identity;
}

/** The first address in the text. */
export const email = (text: string): LeadIdentity => existing(emailsIn(text)[0]);
export const correlationId = (text: string): LeadIdentity => existing(correlationIdIn(text));
export const externalId = (partnerId: string, text: string): LeadIdentity =>
  existing(externalIdIn(partnerId, text));
