/** Components of openapi.json: the schemas that have an id, and the examples of these and of all problems. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isRecord } from '#shared/text/json.ts';
import type { ErrorCode } from '#shared/errors.ts';
import { errorCodes, problems } from '#shared/outcomes/problems.ts';

type Schema = Record<string, unknown>;

/** The part of a JSON Schema that is looked at. */
type JsonSchema = {
  properties?: Record<string, Schema>;
  required?: readonly string[];
};

/** The JSON Schema of what comes (`input`) or goes; what has an id is a reference to a component. */
export type ToJsonSchema = (schema: z.ZodType, io: 'input' | 'output') => JsonSchema;

const REFERENCE = '#/components/schemas/';

/** Makes schemas for the document, and gathers those that have an id. */
export function createSchemas(): {
  toJsonSchema: ToJsonSchema;
  /** All that were referred to by their ids, in order. */
  components: () => [id: string, schema: object][];
} {
  const found = new Map<string, Schema>();
  return {
    toJsonSchema: (schema, io) => {
      // As a member of another one, what has an id is referred to itself.
      const outer = z.toJSONSchema(z.object({ schema }), {
        io,
        unrepresentable: 'any',
        override: forClients,
      });
      const text = JSON.stringify(outer).replaceAll('#/$defs/', REFERENCE);
      const { $defs = {}, properties } = JSON.parse(text) as {
        $defs?: Record<string, Schema>;
        properties: { schema: JsonSchema };
      };
      for (const [id, { id: _id, ...component }] of Object.entries($defs)) {
        if (!isDeepStrictEqual(found.get(id) ?? component, component))
          throw new TypeError(`two schemas of openapi.json would be called ${id}`);
        found.set(id, component);
      }
      return constAsEnum(properties.schema);
    },
    components: () =>
      [...found]
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([id, schema]) => [id, withExample(id, withoutDefaults(schema))]),
  };
}

/** Swagger UI knows no `const`, which stands in parameters and in bodies without a name. */
function constAsEnum<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (!isRecord(value) || !('const' in value)) return value;
    const { const: only, ...others } = value;
    return { ...others, enum: [only] };
  }) as T;
}

/**
 * Takes away what zod writes into a JSON Schema and what does harm to generators of clients, or says
 * nothing: `readOnly` (our lists are read-only in TypeScript alone, and generators make two types of
 * it), the bounds of a double, and that names in an object are texts.
 */
function forClients({ jsonSchema }: { jsonSchema: object }): void {
  const schema = jsonSchema as Schema;
  delete schema['readOnly'];
  for (const bound of ['minimum', 'maximum'])
    if (Math.abs(Number(schema[bound])) === Number.MAX_SAFE_INTEGER) delete schema[bound];
  if (JSON.stringify(schema['propertyNames']) === '{"type":"string"}')
    delete schema['propertyNames'];
  const short = SHORT_PATTERNS[String(schema['format'])];
  if (short !== undefined) schema['pattern'] = short;
}

/** Patterns in place of those that zod writes beside these formats: up to 256 characters. */
const SHORT_PATTERNS: Readonly<Record<string, string>> = {
  uuid: '^[0-9A-Fa-f-]{36}$',
  'date-time': 'Z$',
};

/**
 * A component with the defaults of its fields in words: some generators take a field of a body that has
 * a `default` for one that is required. Parameters retain theirs.
 */
function withoutDefaults(schema: object): object {
  if (!('properties' in schema)) return schema;
  const fields = Object.entries(schema.properties as object).map(([name, field]) => [
    name,
    withDefaultInWords(field as Schema),
  ]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function withDefaultInWords({ default: preset, ...field }: Schema): Schema {
  if (preset === undefined) return field;
  const sentence = `Default: \`${JSON.stringify(preset).replaceAll('"', '')}\`.`;
  const { description } = field;
  return {
    ...field,
    description: typeof description === 'string' ? `${description} ${sentence}` : sentence,
  };
}

/** The schema of this name with its example, if it has one, unless its own says more. */
function withExample(name: string, schema: object): object {
  return name in examples ? { examples: [examples[name]], ...schema } : schema;
}

/** The example of each code, in their order. */
export function problemExamples() {
  return Object.fromEntries(errorCodes.toSorted().map((code) => [code, exampleOf(code)]));
}

function exampleOf(code: ErrorCode) {
  const { title, status, meaning } = problems[code];
  const value = {
    type: `https://adapter.example.com/problems/${code}`,
    title,
    status,
    detail: meaning,
    instance: 'urn:uuid:7d9d9f33-9b25-4366-9223-726f869ce87a',
    code,
    ...particulars[code],
  };
  return { summary: title, value };
}

/** Members of single problems, beside those of all. */
const particulars: Partial<Record<ErrorCode, object>> = {
  'validation-failed': {
    detail: '`limit` must be a whole number from 1 to 100.',
    errors: [
      {
        parameter: 'limit',
        code: 'out-of-range',
        detail: '`limit` must be a whole number from 1 to 100.',
      },
    ],
  },
  'invalid-lifecycle-transition': { current: 'DRAFT', allowed: ['publish', 'replace', 'edit'] },
  'not-a-draft': { current: 'PUBLISHED', allowed: ['deprecate', 'edit'] },
  'version-exists': { current: 'DRAFT' },
  'version-in-use': {
    current: 'DEPRECATED',
    allowed: ['deprecate', 'reinstate', 'edit'],
    readers: ['0f8fad5b-d9cb-469f-a165-70867728950e'],
  },
  'no-published-version': { current: 'DRAFT' },
};

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
