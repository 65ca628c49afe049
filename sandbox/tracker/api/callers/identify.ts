import { refusal } from '../response.ts';
import type { AppTokens } from './app-tokens.ts';
import { type Caller, DEFAULT_LOGIN, type TokenGrant } from './caller.ts';
import type { World } from '../../world/model.ts';
import { accountOf } from '../../world/world.ts';

/** Identifies the caller by the `Authorization` header. @throws Refusal 401 for an unknown credential */
export function identify(
  deps: { world: World; tokens: ReadonlyMap<string, TokenGrant>; apps: AppTokens },
  authorization: string | undefined,
): Caller {
  const { world } = deps;
  if (!authorization) {
    const account = accountOf(world, 'ghost');
    return { kind: 'anonymous', account, can: 'none', quotaKey: 'anonymous' };
  }
  const credential = credentialOf(authorization);
  const grant = deps.tokens.get(credential);
  if (grant) {
    const account = accountOf(world, grant.login ?? DEFAULT_LOGIN);
    const { can, scopes } = grant;
    return {
      kind: 'user',
      account,
      can,
      ...(scopes && { scopes }),
      quotaKey: `user-${account.id}`,
    };
  }
  const isJwt = credential.includes('.') && !credential.startsWith('ghs_');
  const caller = isJwt ? deps.apps.callerOfJwt(credential) : deps.apps.callerOfToken(credential);
  if (!caller) throw refusal(401, 'Bad credentials');
  return caller;
}

function credentialOf(authorization: string): string {
  const [scheme = '', value = ''] = authorization.split(/ +/, 2);
  if (scheme.toLowerCase() !== 'basic') return value;
  return Buffer.from(value, 'base64').toString().split(':').pop() ?? '';
}
