import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { HOUR, SECOND, toRfc3339 } from '#shared/clock.ts';
import { randomBase62 } from '#shared/ids.ts';
import { jsonResponse, notFound, refusal, type TrackerResponse } from '../response.ts';
import type { Ability, Caller } from './caller.ts';
import { accountDocument } from '../documents/issues.ts';
import type { World } from '../../world/model.ts';
import { accountOf } from '../../world/world.ts';

/** A GitHub App that the tracker knows, with the installations that may get tokens. */
export type AppGrant = {
  id: number;
  slug: string;
  /** PEM of the key whose private half signs the app's JWTs. */
  publicKey: string;
  installations: readonly { id: number; can: Ability }[];
};

/** Issues and knows installation tokens. */
export type AppTokens = {
  callerOfJwt(jwt: string): Caller;
  callerOfToken(token: string): Caller | undefined;
  mintToken(installationId: number): TrackerResponse;
  describeApp(): TrackerResponse;
  /** A suspended installation keeps its tokens but is refused with 403. */
  suspend(installationId: number, isSuspended: boolean): void;
  /** Makes every token minted so far a bad credential. */
  revokeTokens(): void;
};

type Minted = { installationId: number; can: Ability; expiresAt: number };
type State = {
  world: World;
  app: AppGrant | undefined;
  minted: Map<string, Minted>;
  suspended: Set<number>;
};

const JWT_LIFETIME_MAX_SECONDS = 600;
const JWT_SKEW_SECONDS = 60;

export function createAppTokens(world: World, app: AppGrant | undefined): AppTokens {
  const state: State = { world, app, minted: new Map(), suspended: new Set() };
  return {
    callerOfJwt: (jwt) => callerOfJwt(state, jwt),
    callerOfToken: (token) => callerOfToken(state, token),
    mintToken: (installationId) => mintToken(state, installationId),
    describeApp: () => describeApp(state),
    suspend: (installationId, isSuspended) => {
      if (isSuspended) state.suspended.add(installationId);
      else state.suspended.delete(installationId);
    },
    revokeTokens: () => state.minted.clear(),
  };
}

function callerOfJwt(state: State, jwt: string): Caller {
  const { app, world } = state;
  const [head = '', claims = '', signature = ''] = jwt.split('.');
  const { iss, iat, exp } = jsonPart(claims);
  if (!app || String(iss) !== String(app.id) || jsonPart(head)['alg'] !== 'RS256')
    throw refusal(401, 'A JSON web token could not be decoded');
  const isGenuine = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    createPublicKey(app.publicKey),
    Buffer.from(signature, 'base64url'),
  );
  if (!isGenuine) throw refusal(401, 'A JSON web token could not be decoded');
  const now = world.clock.now() / SECOND;
  if (!(Number(exp) > now))
    throw refusal(401, "'Expiration time' claim ('exp') must be in the future");
  if (Number(exp) > now + JWT_LIFETIME_MAX_SECONDS + JWT_SKEW_SECONDS)
    throw refusal(401, "'Expiration time' claim ('exp') is too far in the future");
  if (!(Number(iat) < now + JWT_SKEW_SECONDS))
    throw refusal(401, "'Issued at' claim ('iat') must be an Integer representing the time");
  const account = accountOf(world, `${app.slug}[bot]`);
  return { kind: 'app', account, can: 'none', quotaKey: `app-${app.id}` };
}

function jsonPart(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function callerOfToken(state: State, token: string): Caller | undefined {
  const minted = state.minted.get(token);
  if (!state.app || !minted || minted.expiresAt <= state.world.clock.now()) return undefined;
  if (state.suspended.has(minted.installationId))
    throw refusal(403, 'This installation has been suspended');
  return {
    kind: 'installation',
    account: accountOf(state.world, `${state.app.slug}[bot]`),
    can: minted.can,
    quotaKey: `installation-${minted.installationId}`,
  };
}

function mintToken(state: State, installationId: number): TrackerResponse {
  const installation = state.app?.installations.find(({ id }) => id === installationId);
  if (!installation) throw notFound();
  if (state.suspended.has(installationId))
    throw refusal(403, 'This installation has been suspended');
  const token = longToken(state, installationId);
  const expiresAt = state.world.clock.now() + HOUR;
  state.minted.set(token, { installationId, can: installation.can, expiresAt });
  const level = installation.can === 'read' ? 'read' : 'write';
  return jsonResponse(
    {
      token,
      expires_at: toRfc3339(Math.floor(expiresAt / SECOND) * SECOND),
      permissions: { issues: level, metadata: 'read' },
      repository_selection: 'all',
    },
    { status: 201 },
  );
}

/** About 520 characters, of the form `ghs_<app id>_<jwt>`; the tracker alone could check its signature. */
function longToken({ app, world }: State, installationId: number): string {
  const now = Math.floor(world.clock.now() / SECOND);
  const claims = { iss: 'sandbox', sub: String(installationId), jti: randomBase62(36), iat: now };
  const [head, payload] = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `ghs_${app?.id}_${head}.${payload}.${randomBytes(256).toString('base64url')}`;
}

function describeApp({ app, world }: State): TrackerResponse {
  if (!app) throw notFound();
  const since = toRfc3339(0);
  const page = `${world.origin}/apps/${app.slug}`;
  return jsonResponse({
    id: app.id,
    slug: app.slug,
    node_id: `A_${app.id}`,
    owner: accountDocument(world, accountOf(world, 'acme')),
    name: app.slug,
    description: null,
    external_url: page,
    html_url: page,
    created_at: since,
    updated_at: since,
    permissions: { issues: 'write', metadata: 'read' },
    events: ['issues', 'label', 'repository'],
    installations_count: app.installations.length,
  });
}
