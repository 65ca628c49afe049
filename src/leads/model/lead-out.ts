import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { memoize } from '#shared/caching.ts';
import { hmacSha256 } from '#shared/crypto/hash.ts';
import { instantOut } from '#shared/instant-out.ts';
import { paginationOut } from '#shared/pagination/page.ts';

/** The id of a lead: its issue's number. */
export const LEAD_ID = /^[1-9][0-9]{0,9}$/;

const contactOut = z
  .object({
    firstName: z.string().optional(),
    email: z.string().optional(),
    company: z.string().optional(),
    interest: z.string().optional(),
    message: z.string().optional(),
    sourcePage: z.string().optional(),
    fields: z
      .record(z.string(), z.string())
      .optional()
      .describe('Further fields of the form, by the names that the configuration exposes.'),
  })
  .describe('What the person typed into the form. A field that is unknown is absent.');

const connectOut = z
  .object({
    correlationId: z.string().optional(),
    portalRunUrl: z.string().optional().describe('An http or https URL.'),
  })
  .describe('How the lead connects to the portal that took it in.');

const fieldsOut = z
  .record(z.string(), z.union([z.string(), z.number(), z.array(z.string()).readonly()]))
  .describe(
    "The tracker's typed fields that the configuration names: a text, a number, a date, the name of an option, or several.",
  );

/** A lead as it leaves the service. What is not named here cannot leave. */
export const leadOut = z
  .object({
    id: z.string().describe('The issue number as text.'),
    url: z.string().optional().describe('Where people see the issue, with `leads.url: true`.'),
    title: z.string(),
    state: z.enum(['open', 'closed']),
    priority: z.string().optional().describe('From the first priority label, in lower case.'),
    assignee: z.string().optional().describe('Login of the first assignee.'),
    labels: z.array(z.string()).readonly(),
    type: z.string().optional().describe("Name of the issue's type."),
    fields: fieldsOut.optional(),
    createdAt: instantOut,
    updatedAt: instantOut,
    contact: contactOut,
    connect: connectOut,
  })
  .meta({ id: 'Lead', description: 'An approved issue of the tracker.' });

/** One page of leads. */
export const leadListOut = z
  .object({ items: z.array(leadOut).readonly(), pagination: paginationOut })
  .meta({ id: 'LeadList' });

/** A lead as consumers see it. What nothing is known of is omitted. */
export type Lead = z.infer<typeof leadOut>;
export type Contact = z.infer<typeof contactOut>;
export type LeadList = z.infer<typeof leadListOut>;

/**
 * A lead as JSON, made once. A hundred long ones take V8 a tenth of a second: whoever reads a page of issues
 * has each of its leads rendered there, where others get a turn of the event loop between two.
 */
export const renderLead: (lead: Lead) => Buffer = memoize((lead) =>
  Buffer.from(JSON.stringify(z.encode(leadOut, lead))),
);

const DIGEST_BYTES = 16;

/** A keyed digest of the lead as readers get it: of two that differ it differs, and nobody can be read from it. */
export function leadDigestOf(key: KeyObject, lead: Lead): Buffer {
  return hmacSha256(key, renderLead(lead)).subarray(0, DIGEST_BYTES);
}

/** About how long a list is as JSON: known before it is made. */
export const bytesOfList: (list: LeadList) => number = memoize(({ items }) =>
  items.reduce((bytes, lead) => bytes + renderLead(lead).length, 0),
);

export function renderLeadList({ items, pagination }: LeadList): Buffer {
  const parts = items.flatMap((lead) => [Buffer.from(','), renderLead(lead)]).slice(1);
  const end = `],"pagination":${JSON.stringify(z.encode(paginationOut, pagination))}}`;
  return Buffer.concat([Buffer.from('{"items":['), ...parts, Buffer.from(end)]);
}
