import { consumerOut, createdConsumerOut, newKeyOut } from '#access/consumers/consumer-out.ts';
import { describeRoute } from '../../openapi/describe-route.ts';
import { pageQuery, secretIdempotencyHeader } from '../../requests/parameters.ts';
import {
  consumerIn,
  consumerListOut,
  consumerParams,
  consumerPatch,
  grantsReplace,
  keyIn,
  keyParams,
  rotateIn,
} from './schema.ts';

const common = { tag: 'Consumers', scope: 'trackport:admin', headers: ['Cache-Control'] } as const;
const changeProblems = ['not-found', 'invalid-lifecycle-transition'] as const;
/** Of requests that make a key. */
const idempotencyProblems = [
  'idempotency-in-progress',
  'idempotency-replayed-secret',
  'idempotency-mismatch',
] as const;
const headers = secretIdempotencyHeader;
const theConsumer = { description: 'The consumer as it is now.', schema: consumerOut };

/** The routes of consumers and their keys, as openapi.json describes them. */
export const routes = {
  list: describeRoute({
    ...common,
    operationId: 'listConsumers',
    summary: 'List consumers',
    description: 'Oldest first, those that are revoked among them.',
    request: { querystring: pageQuery },
    ok: { 200: { description: 'One page of consumers.', schema: consumerListOut } },
    headers: ['Cache-Control', 'Link'],
    problems: ['invalid-cursor'],
  }),
  create: describeRoute({
    ...common,
    operationId: 'createConsumer',
    summary: 'Create a consumer with its first key',
    description: 'Without `grants` it may do nothing yet.',
    request: { headers, body: consumerIn },
    ok: { 201: { description: 'The only answer with the key.', schema: createdConsumerOut } },
    headers: ['Cache-Control', 'Location'],
    problems: [...idempotencyProblems],
  }),
  read: describeRoute({
    ...common,
    operationId: 'readConsumer',
    summary: 'Read one consumer with its grants and keys',
    description: 'Of each key the public part alone.',
    request: { params: consumerParams },
    ok: { 200: theConsumer },
    problems: ['not-found'],
  }),
  update: describeRoute({
    ...common,
    operationId: 'updateConsumer',
    summary: 'Change a consumer’s name, limit or state',
    description: 'What the body leaves out stays as it is.',
    request: { params: consumerParams, body: consumerPatch },
    ok: { 200: theConsumer },
    problems: changeProblems,
  }),
  revoke: describeRoute({
    ...common,
    operationId: 'revokeConsumer',
    summary: 'Revoke a consumer with all its keys, for good',
    description: 'It stays readable. Repeating the call changes nothing.',
    request: { params: consumerParams },
    ok: { 200: theConsumer },
    problems: ['not-found'],
  }),
  grant: describeRoute({
    ...common,
    operationId: 'replaceGrants',
    summary: 'Replace all grants of a consumer',
    description: 'With an empty list it may do nothing.',
    request: { params: consumerParams, body: grantsReplace },
    ok: { 200: theConsumer },
    problems: changeProblems,
  }),
  addKey: describeRoute({
    ...common,
    operationId: 'addKey',
    summary: 'Make one more key for a consumer',
    description: 'A consumer has at most 20 active keys.',
    request: { params: consumerParams, headers, body: keyIn.optional() },
    ok: { 201: { description: 'The only answer with the key.', schema: newKeyOut } },
    problems: [...idempotencyProblems, ...changeProblems],
  }),
  rotate: describeRoute({
    ...common,
    operationId: 'rotateKey',
    summary: 'Make a new key in place of an old one',
    description: 'The old key stays good for the overlap.',
    request: { params: keyParams, headers, body: rotateIn.optional() },
    ok: { 200: { description: 'The only answer with the new key.', schema: newKeyOut } },
    problems: [...idempotencyProblems, ...changeProblems],
  }),
  revokeKey: describeRoute({
    ...common,
    operationId: 'revokeKey',
    summary: 'Revoke one key, for good',
    description: 'Repeating the call changes nothing.',
    request: { params: keyParams },
    ok: { 200: theConsumer },
    problems: ['not-found'],
  }),
};
