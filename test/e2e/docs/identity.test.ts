/**
 * The configurations of `docs/how-to/identity.md`, with tokens as each product documents them: what is meant for
 * Trackport is read, with the scopes and the workspace that the recipe promises.
 */
import { expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { openWorld } from '../../adapters/jose/support.ts';
import { makeToken } from '../../support/issuer.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { takeBlock } from '../support/documents.ts';
import { configFile } from '../support/process.ts';

const TRACKER = 'tracker: { repository: acme/leads, auth: { token: t } }\n';

type Shape = {
  product: string;
  block: string;
  header?: { typ: string };
  claims: Record<string, unknown>;
  workspaceId: string;
};

/** Header and payload beside `iss`, `exp` and `iat`, as the vendors' references have them. */
const shapes: readonly Shape[] = [
  {
    product: 'Keycloak, a service account',
    block: takeBlock('docs/how-to/identity.md', '/realms/acme'),
    header: { typ: 'JWT' },
    claims: {
      aud: ['trackport', 'account'],
      typ: 'Bearer',
      azp: 'trackport-cli',
      client_id: 'trackport-cli',
      scope: 'profile catalog:write catalog:read email',
      realm_access: { roles: ['catalog:read', 'catalog:write'] },
      workspace_id: 'acme',
    },
    workspaceId: 'acme',
  },
  {
    product: 'Entra, an application, version 2.0',
    block: takeBlock('docs/how-to/identity.md', 'login.microsoftonline.com'),
    header: { typ: 'JWT' },
    claims: {
      aud: 'CLIENT-ID-OF-TRACKPORT',
      azp: 'machine',
      azpacr: '1',
      idtyp: 'app',
      oid: 'object',
      roles: ['catalog:read', 'catalog:write'],
      scope: undefined,
      tid: 'tenant',
      ver: '2.0',
    },
    workspaceId: 'tenant',
  },
  {
    product: 'Entra, a person with app roles',
    block: takeBlock('docs/how-to/identity.md', 'login.microsoftonline.com'),
    header: { typ: 'JWT' },
    claims: {
      aud: 'CLIENT-ID-OF-TRACKPORT',
      azp: 'trackport-portal',
      name: 'Olivia Owner',
      preferred_username: 'olivia@example.com',
      roles: ['catalog:write', 'catalog:read'],
      scp: 'trackport:admin catalog:read',
      scope: undefined,
      tid: 'tenant',
      ver: '2.0',
    },
    workspaceId: 'tenant',
  },
  {
    product: 'Okta, a service application',
    block: takeBlock('docs/how-to/identity.md', 'acme.okta.com'),
    header: { typ: 'JWT' },
    claims: {
      cid: 'machine',
      client_id: undefined,
      scp: ['catalog:write', 'catalog:read'],
      scope: undefined,
      ver: 1,
      workspace_id: 'acme',
    },
    workspaceId: 'acme',
  },
  {
    product: 'Auth0, a machine, RBAC on',
    block: takeBlock('docs/how-to/identity.md', 'acme.eu.auth0.com'),
    header: { typ: 'JWT' },
    claims: {
      sub: 'machine@clients',
      azp: 'machine',
      gty: 'client-credentials',
      scope: 'catalog:read catalog:write',
      permissions: ['catalog:read', 'catalog:write'],
      'https://acme.example/workspace_id': 'acme',
    },
    workspaceId: 'acme',
  },
];

test.each(shapes)('$product: the recipe reads scopes and workspace', async (shape) => {
  const file = configFile(TRACKER + shape.block, temporaryFolder());
  const { identity } = loadConfig({ file, environment: {} });
  if (!identity) throw new Error('the block configures no issuer');
  const { audience, scopeClaim, workspaceClaim, tokenType } = identity;
  const { issuer, verifier } = await openWorld({
    rules: { audience, scopeClaim, workspaceClaim, tokenType },
  });
  const { claims, header = {} } = shape;
  const { scopes, workspaceId } = await verifier.verify(
    await makeToken(issuer, { claims, header }),
  );
  expect([...scopes].filter((scope) => scope.startsWith('catalog:')).sort()).toEqual([
    'catalog:read',
    'catalog:write',
  ]);
  expect([...scopes]).not.toContain('trackport:admin');
  expect(workspaceId).toBe(shape.workspaceId);
});
