import type { PartnerId } from '../world/settings.ts';

/** Marks all that is personal, so that it can be looked for in the bytes of a store. */
export const PERSONAL = 'qzpii';

/** Somebody who writes forms. By a name that is the same for two of them both are found. */
export type Person = {
  email: string;
  correlationId: string;
  /** Knowledge that the portal has of the CRM. */
  crm: { partner: PartnerId; id: string } | undefined;
};

export function personAt(index: number): Person {
  const partner = (['crm-v3', 'crm-hmac', 'crm-standard'] as const)[index % 3] ?? 'crm-v3';
  return {
    email: `${PERSONAL}-${index}@people.example`,
    correlationId: `run-${index}`,
    crm: index % 4 === 3 ? undefined : { partner, id: String(70_000 + index) },
  };
}

const PORTAL = 'acme-portal[bot]';

/** A form as the portal files it, or as a visitor does at the tracker itself. */
export function formOf(person: Person, isOfPortal: boolean, message: string) {
  const { email, correlationId, crm } = person;
  const fields = {
    'First name': `Ada ${PERSONAL}`,
    Email: email,
    Company: 'Analytical Engines',
    Interest: '_No response_',
    Message: message,
    'Source page': '/pricing',
  };
  const ids = crm ? `\nexternalIds: { ${crm.partner}: "${crm.id}" }` : '';
  const block = `<!-- trackport\ncorrelationId: ${correlationId}${ids}\n-->`;
  const form = Object.entries(fields).map(([heading, text]) => `### ${heading}\n\n${text}\n`);
  return {
    title: `Request of ${email}`,
    ...(isOfPortal && { author: PORTAL }),
    body: [...form, ...(isOfPortal ? [block] : [])].join('\n'),
  };
}
