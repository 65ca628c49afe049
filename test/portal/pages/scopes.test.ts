import { expect, test } from 'vitest';
import { portalPages } from '#portal/portal.ts';

const ADMIN = 'trackport:admin';
const VERSION = '/portal/catalog/:id/versions/:version';
const KEY = '/portal/consumers/:id/keys/:keyId';

/** Scope that alone shows each page. */
const pages: Record<string, string | undefined> = {
  '/portal': undefined,
  '/portal/consumers': ADMIN,
  '/portal/consumers/new': ADMIN,
  '/portal/consumers/:id': ADMIN,
  '/portal/consumers/:id/revoke': ADMIN,
  '/portal/consumers/:id/keys/new': ADMIN,
  [`${KEY}/rotate`]: ADMIN,
  [`${KEY}/revoke`]: ADMIN,
  '/portal/receipts': ADMIN,
  '/portal/receipts/replay': ADMIN,
  '/portal/receipts/:id': ADMIN,
  '/portal/receipts/:id/certificate': ADMIN,
  '/portal/receipts/words': ADMIN,
  '/portal/claims': ADMIN,
  '/portal/claims/:number': ADMIN,
  '/portal/claims/:number/release': ADMIN,
  '/portal/partners': ADMIN,
  '/portal/audit': ADMIN,
  '/portal/audit/file': ADMIN,
  '/portal/catalog': 'catalog:read',
  '/portal/catalog/:id': 'catalog:read',
  '/portal/catalog/:id/spec': 'catalog:read',
  '/portal/catalog/-/new': 'catalog:write',
  [`${VERSION}/edit`]: 'catalog:write',
  [`${VERSION}/delete`]: 'catalog:write',
  [`${VERSION}/publish`]: 'catalog:publish',
  [`${VERSION}/deprecate`]: 'catalog:publish',
  [`${VERSION}/retire`]: 'catalog:publish',
  [`${VERSION}/unset-default`]: 'catalog:publish',
};

/** The same for what each form does. */
const actions: Record<string, string | undefined> = {
  '/portal/consumers/new': ADMIN,
  '/portal/consumers/:id/grants': ADMIN,
  '/portal/consumers/:id/name': ADMIN,
  '/portal/consumers/:id/limit': ADMIN,
  '/portal/consumers/:id/enable': ADMIN,
  '/portal/consumers/:id/disable': ADMIN,
  '/portal/consumers/:id/revoke': ADMIN,
  '/portal/consumers/:id/keys/new': ADMIN,
  [`${KEY}/rotate`]: ADMIN,
  [`${KEY}/revoke`]: ADMIN,
  '/portal/receipts/replay': ADMIN,
  '/portal/receipts/:id/acknowledge': ADMIN,
  '/portal/receipts/:id/replay': ADMIN,
  '/portal/claims/:number/release': ADMIN,
  '/portal/catalog/-/new': 'catalog:write',
  [`${VERSION}/edit`]: 'catalog:write',
  [`${VERSION}/describe`]: 'catalog:write',
  [`${VERSION}/delete`]: 'catalog:write',
  [`${VERSION}/publish`]: 'catalog:publish',
  [`${VERSION}/deprecate`]: 'catalog:publish',
  [`${VERSION}/retire`]: 'catalog:publish',
  [`${VERSION}/unset-default`]: 'catalog:publish',
  [`${VERSION}/reinstate`]: 'catalog:publish',
  [`${VERSION}/default`]: 'catalog:publish',
};

// Uses of a scope, a session and a form's token are tested where they are decided: `portal-routes.test.ts`.
test('every page and action asks for its scope', () => {
  const found = { pages: {} as typeof pages, actions: {} as typeof actions };
  for (const { path, scope, methods } of portalPages) {
    if (methods.includes('GET')) found.pages[path] = scope;
    if (methods.includes('POST')) found.actions[path] = scope;
  }
  expect(found).toEqual({ pages, actions });
});
