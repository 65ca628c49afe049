import { problemExamples } from './responses.ts';

const lead = {
  id: '42',
  title: 'Pricing for a team of twenty',
  state: 'open',
  priority: 'high',
  assignee: 'octo-operator',
  labels: ['approved', 'priority: high'],
  type: 'Request',
  fields: { region: 'EMEA', teamSize: 12, products: ['Catalog', 'Events'] },
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-02T08:30:00Z',
  contact: {
    firstName: 'Ada',
    email: 'ada@example.com',
    company: 'Example Ltd',
    interest: 'Pricing',
    message: 'Hello,\nplease send an offer.',
    sourcePage: '/pricing',
  },
  connect: {
    correlationId: '0b9f6a52',
    portalRunUrl: 'https://portal.example.com/runs/81',
  },
};

const receipt = {
  id: '01a1fc2a-bff8-7f28-98c4-d0a2b2b54b82',
  partnerId: 'crm-two',
  eventType: 'contact.deletion',
  externalId: '4711',
  correlationId: '01a1fc2a-bff8-76ff-9520-922908abfc1f',
  receivedAt: '2026-03-02T09:00:00Z',
};

const claim = {
  leadId: '42',
  claimedAt: '2026-03-02T09:00:00Z',
  receiptIds: [receipt.id],
};

const draft = { id: 'orders-api', type: 'API', owner: 'team-orders', title: 'Orders API' };

const summary = {
  ...draft,
  version: '1.0.0',
  lifecycle: 'PUBLISHED',
  source: 'INLINE',
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T11:00:00Z',
  publishedAt: '2026-03-01T11:00:00Z',
  workspaceId: 'default',
};

const spec = { openapi: '3.1.0', info: { title: 'Orders', version: '1.0.0' }, paths: {} };

const key = {
  keyId: 'MZQmR0OYZyod',
  last4: 'vWBp',
  state: 'active',
  createdBy: 'operator',
  createdAt: '2026-03-01T10:00:00Z',
};

/** One example for each schema that people look for first. A test checks them by their schemas. */
const examples: Readonly<Record<string, unknown>> = {
  Lead: lead,
  LeadList: { items: [lead], pagination: { hasMore: true, nextCursor: 'pw0gIexUw67cteWS' } },
  Receipt: { ...receipt, status: 'ACCEPTED' },
  ReceiptStatus: {
    id: receipt.id,
    status: 'PROCESSED',
    events: [
      {
        position: 0,
        eventType: 'contact.deletion',
        eventId: '3816279340',
        outcome: 'DONE',
        erasure: 'complete',
        completedAt: '2026-03-02T09:00:02Z',
      },
    ],
  },
  ReceiptDetail: {
    ...receipt,
    status: 'PROCESSED',
    events: [
      {
        eventType: 'contact.deletion',
        eventId: '3816279340',
        externalId: '4711',
        outcome: 'DONE',
        names: ['external-id'],
        leadIds: ['42'],
        attempts: 1,
        completedAt: '2026-03-02T09:00:02Z',
        history: [{ at: '2026-03-02T09:00:01Z', what: 'matched' }],
      },
    ],
  },
  ReceiptList: {
    items: [{ ...receipt, status: 'PROCESSED', outcomes: { DONE: 1 } }],
    pagination: { hasMore: false },
  },
  ArtifactDraft: { ...draft, version: '1.0.0', spec },
  ArtifactContent: { type: draft.type, owner: draft.owner, title: draft.title, spec },
  ArtifactPatch: { title: 'Orders API of the shop' },
  Artifact: { ...summary, counts: { versions: 1, members: 0 }, spec },
  ArtifactUsage: {
    items: [
      {
        version: '1.0.0',
        lifecycle: 'DEPRECATED',
        sunsetAt: '2026-09-30T23:59:59Z',
        readers: [
          {
            kind: 'consumer',
            id: '0f8fad5b-d9cb-469f-a165-70867728950e',
            name: 'Sales tool',
            lastReadAt: '2026-03-02T09:00:00Z',
            reads: 412,
          },
        ],
      },
    ],
  },
  ArtifactList: { items: [summary], pagination: { hasMore: false } },
  Claim: claim,
  ClaimList: { items: [claim], pagination: { hasMore: false } },
  AuditList: {
    items: [
      {
        at: '2026-03-02T09:00:00Z',
        actor: { kind: 'token', subject: 'operator', clientId: 'console' },
        action: 'key.revoke',
        subject: 'consumer/0f8fad5b-d9cb-469f-a165-70867728950e',
        changes: { keyId: key.keyId },
        requestId: '7d9d9f33-9b25-4366-9223-726f869ce87a',
      },
    ],
    pagination: { hasMore: false },
  },
  ConsumerIn: { name: 'Sales tool', grants: [{ action: 'leads:read', labels: ['emea'] }] },
  Consumer: {
    id: '0f8fad5b-d9cb-469f-a165-70867728950e',
    name: 'Sales tool',
    state: 'active',
    grants: [{ action: 'leads:read', labels: ['emea'] }],
    keys: [key],
    createdAt: '2026-03-01T10:00:00Z',
  },
  KeyHolder: {
    id: '0f8fad5b-d9cb-469f-a165-70867728950e',
    name: 'Sales tool',
    grants: [{ action: 'leads:read', labels: ['emea'] }],
    limitPerMinute: 600,
    key: { keyId: key.keyId, expiresAt: '2026-05-30T10:00:00Z' },
  },
  KeyIn: { expires: '30d' },
  RotateIn: { overlap: '24h' },
  Problem: problemExamples()['validation-failed']?.value,
};

/** The schema of this name with its example, if it has one, unless its own says more. */
export function withExample(name: string, schema: object): object {
  return name in examples ? { examples: [examples[name]], ...schema } : schema;
}
