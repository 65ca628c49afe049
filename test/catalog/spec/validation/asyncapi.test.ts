import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findingsOf } from '#catalog/spec/validation/spec-check.ts';
import { treesOf } from './trees.ts';

const info = { title: 'Orders', version: '1' };
const check = async (document: object) => findingsOf(JSON.stringify(document));
const shown = async (document: object) =>
  (await check(document)).map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`);

/** Of the second generation: channels hold the operations. */
const two = (facts: object = {}) => ({ asyncapi: '2.6.0', info, channels: {}, ...facts });
/** Of the third: operations refer to channels. */
const three = (facts: object = {}) => ({ asyncapi: '3.0.0', info, ...facts });

const schema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };

const orders2 = two({
  id: 'urn:example:orders',
  defaultContentType: 'application/json',
  servers: {
    live: {
      url: 'broker.example.com:{port}',
      protocol: 'kafka',
      variables: { port: { enum: ['9092', '9093'], default: '9092' } },
      security: [{ login: [] }],
    },
  },
  channels: {
    'orders/{region}': {
      parameters: { region: { $ref: '#/components/parameters/region' } },
      subscribe: {
        operationId: 'onOrder',
        bindings: { kafka: { groupId: { type: 'string' } } },
        message: {
          oneOf: [
            { $ref: '#/components/messages/created' },
            { name: 'gone', payload: { $ref: '#/components/schemas/Order' } },
          ],
        },
      },
      publish: {
        message: {
          traits: [{ $ref: '#/components/messageTraits/traced' }],
          payload: { allOf: [schema, { additionalProperties: false }] },
        },
      },
    },
  },
  components: {
    parameters: { region: { schema: { type: 'string' } } },
    schemas: { Order: schema, Loop: { items: { $ref: '#/components/schemas/Loop' } } },
    messageTraits: { traced: { headers: { type: 'object' }, correlationId: { $ref: '#/x-id' } } },
    messages: {
      created: {
        schemaFormat: 'application/vnd.apache.avro;version=1.9.0',
        payload: { type: 'record', name: 'Order', fields: [{ name: 'id', type: 'long' }] },
        examples: [{ payload: { $ref: '#/nowhere' } }],
      },
    },
    securitySchemes: { login: { type: 'scramSha256' } },
  },
  'x-id': { location: '$message.header#/id' },
});

const orders3 = three({
  servers: { live: { host: 'broker.example.com', protocol: 'mqtt', bindings: { mqtt: {} } } },
  channels: {
    order: {
      address: 'orders/{region}',
      servers: [{ $ref: '#/servers/live' }],
      parameters: { region: { enum: ['eu', 'us'] } },
      messages: {
        created: { $ref: '#/components/messages/created' },
        gone: {
          payload: { schemaFormat: 'application/vnd.google.protobuf', schema: 'message A {}' },
        },
      },
    },
    replies: { address: null, messages: { ok: { payload: {} } } },
  },
  operations: {
    onOrder: {
      action: 'receive',
      channel: { $ref: '#/channels/order' },
      messages: [{ $ref: '#/channels/order/messages/created' }],
      reply: {
        channel: { $ref: '#/channels/replies' },
        address: { location: '$message.header#/to' },
      },
      security: [{ type: 'http', scheme: 'bearer' }],
    },
  },
  components: {
    schemas: { Order: { ...schema, 'x-internal': true } },
    messages: {
      created: {
        payload: { $ref: '#/components/schemas/Order' },
        headers: { type: 'object', properties: { to: { type: 'string' } } },
        examples: [{ name: 'one', payload: { id: 1 } }],
      },
    },
  },
});

test.each([
  ...['2.0.0', '2.1.0', '2.2.0', '2.3.0', '2.4.0', '2.5.0', '2.6.0', '2.6.4'].map((asyncapi) =>
    two({ asyncapi }),
  ),
  ...['3.0.0', '3.1.0', '3.0.1'].map((asyncapi) => three({ asyncapi })),
])('a least document of $asyncapi is valid, whatever its patch number', async (document) => {
  expect(await shown(document)).toEqual([]);
});

test('valid documents of both generations have no findings', async () => {
  expect(await shown(orders2)).toEqual([]);
  expect(await shown(orders3)).toEqual([]);
});

test.each([
  ['4.0.0'],
  ['2.7.0'],
  ['3.2.0'],
  ['1.2.0'],
  ['3.0'],
  ['3.0.0-next'],
  [3],
  [null],
  [{}],
  [['3.0.0']],
])('a version that is not known is the one finding: %j', async (asyncapi) => {
  expect(await check(three({ asyncapi, channels: 5 }))).toEqual([
    {
      pointer: '#/spec/asyncapi',
      code: 'unknown-version',
      detail: 'Known are `asyncapi` 2.0.0 to 2.6.0, 3.0.0 and 3.1.0, each written as a string.',
    },
  ]);
});

const inMessage = (message: object) => two({ channels: { a: { publish: { message } } } });
const inPayload = (payload: object) => three({ channels: { a: { messages: { m: { payload } } } } });
const inScheme = (scheme: object) => three({ components: { securitySchemes: { s: scheme } } });
const inOperation = (operation: object) =>
  three({ channels: { a: { address: 'a' } }, operations: { o: operation } });

const TYPES = 'array, boolean, integer, null, number, object, string';
const AT = '#/spec/channels/a';

test.each([
  [{ asyncapi: '2.6.0' }, "#/spec required: must have required property 'info'"],
  [
    two({ operations: {} }),
    '#/spec additionalProperties: must NOT have additional properties: "operations"',
  ],
  [three({ info: 'x' }), '#/spec/info type: must be object'],
  [three({ channels: { a: 5 } }), `${AT} type: must be object`],
  [
    three({ channels: { 'a/b c': { adress: 'x' } } }),
    '#/spec/channels/a~1b%20c additionalProperties: must NOT have additional properties: "adress"',
  ],
  [
    inMessage({ payloads: {} }),
    `${AT}/publish/message additionalProperties: must NOT have additional properties: "payloads"`,
  ],
  [
    inMessage({ oneOf: [{}, { payloads: {} }] }),
    `${AT}/publish/message/oneOf/1 additionalProperties: must NOT have additional properties: "payloads"`,
  ],
  [
    inMessage({ payload: { type: 'objct' } }),
    `${AT}/publish/message/payload/type enum: must be equal to one of the allowed values: ${TYPES}`,
  ],
  [
    inPayload({ items: { properties: { id: { type: 'int' } } } }),
    `${AT}/messages/m/payload/items/properties/id/type enum: must be equal to one of the allowed values: ${TYPES}`,
  ],
  [
    inOperation({ channel: { $ref: '#/channels/a' } }),
    "#/spec/operations/o required: must have required property 'action'",
  ],
  [
    inOperation({ action: 'sent', channel: { $ref: '#/channels/a' } }),
    '#/spec/operations/o/action enum: must be equal to one of the allowed values: send, receive',
  ],
  [
    inOperation({ action: 'send', channel: { address: 'a' } }),
    "#/spec/operations/o/channel required: must have required property '$ref'",
  ],
  [three({ channels: { a: { $ref: 5 } } }), `${AT}/$ref type: must be string`],
  [
    three({ channels: { a: { $ref: '#/components/channels/b' } } }),
    `${AT}/$ref unresolved-reference: leads nowhere: #/components/channels/b`,
  ],
  [
    inScheme({ type: 'http' }),
    "#/spec/components/securitySchemes/s required: must have required property 'scheme'",
  ],
  [
    inScheme({ type: 'htp' }),
    '#/spec/components/securitySchemes/s/type enum: must be equal to one of the allowed values: userPassword, apiKey, X509, symmetricEncryption, asymmetricEncryption, http, httpApiKey, oauth2, openIdConnect, plain, scramSha256, scramSha512, gssapi',
  ],
  [
    three({ channels: { a: { bindings: { kafka: { partitions: 'x' } } } } }),
    `${AT}/bindings/kafka/partitions type: must be integer`,
  ],
])('what is wrong is told once, with its place: %j', async (document, finding) => {
  expect(await shown(document)).toContain(finding);
  const others = (await shown(document)).filter((one) => one !== finding);
  expect(others.filter((one) => !/required property '(?:channels|version)'/.test(one))).toEqual([]);
});

test('what must not be there is named', async () => {
  const flows = { implicit: { authorizationUrl: 'https://a.example', availableScopes: {} } };
  expect(await shown(inScheme({ type: 'oauth2', flows }))).toEqual([]);
  const implicit = { ...flows.implicit, tokenUrl: 'https://b.example' };
  expect(await shown(inScheme({ type: 'oauth2', flows: { implicit } }))).toEqual([
    "#/spec/components/securitySchemes/s/flows/implicit not: must NOT have the property 'tokenUrl'",
  ]);
});

test('a reference may stand where the schema also takes it for the thing itself', async () => {
  const document = inPayload({});
  const components = { schemas: { Query: { type: 'object' } } };
  const query = { $ref: '#/components/schemas/Query' };
  const channels = { ...document, channels: { a: { bindings: { ws: { query } } } }, components };
  expect(await shown(channels)).toEqual([]);
});

test('what could be two things of which it must be one is told so', async () => {
  const operation = { action: 'send', channel: { $ref: '#/channels/a' } };
  const bindings = { solace: { destinations: [{}] } };
  expect(await shown(inOperation({ ...operation, bindings }))).toEqual([
    '#/spec/operations/o/bindings/solace/destinations/0 oneOf: must be exactly one of several things, and could be two',
  ]);
});

test('references out of the document are not followed', async () => {
  const far = { $ref: 'https://example.com/schemas.json#/a' };
  expect(await shown(three({ components: { schemas: { far } } }))).toEqual([]);
});

test('of thousands of findings the first hundred come, and how many more there are', async () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 2000 }, (_, at) => [`s${at}`, { type: 'strin' }]),
  );
  const findings = await check(three({ components: { schemas } }));
  expect(findings).toHaveLength(101);
  expect(findings[100]).toEqual({
    pointer: '#/spec',
    code: 'more',
    detail: '1900 more findings are not shown.',
  });
});

test('a place as deep as a document goes has its findings once', async () => {
  let payload: object = { type: 'objct' };
  for (let depth = 0; depth < 56; depth += 1) payload = { items: payload };
  const findings = await check(inPayload(payload));
  expect(findings.map(({ pointer }) => pointer)).toEqual([
    `${AT}/messages/m/payload${'/items'.repeat(56)}/type`,
  ]);
});

test('whatever stands in a document, it is checked and never thrown at', async () => {
  const names = ['$ref', '$id', 'oneOf', 'type', 'payload', 'schema', 'items', 'a/~b', ''];
  const tree = treesOf(names, ['#', '#/', 'object', 'http']);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('2.0.0', '2.6.0', '3.1.0'), tree, async (asyncapi, node) => {
      const channels = { a: node, b: { publish: { message: node } }, c: { messages: { m: node } } };
      const document = { asyncapi, info, channels, components: { schemas: node } };
      for (const finding of await check(document))
        expect(finding).toEqual({
          pointer: expect.stringMatching(/^#\/spec(?:\/|$)/),
          code: expect.stringMatching(/./),
          detail: expect.stringMatching(/./),
        });
    }),
    { numRuns: 300 },
  );
});
