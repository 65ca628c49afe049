import { refusal } from './answer.ts';
import type { AppDesk } from './app-desk.ts';
import type { Account, World } from './model.ts';
import { accountOf } from './world.ts';

/**
 * What a credential may do with the repositories, each including the ones before it:
 * `none` sees nothing, `read` reads, `edit` edits issues but has labels and assignees dropped in
 * silence, `write` pushes, `admin` deletes issues and changes settings.
 */
export const abilities = ['none', 'read', 'edit', 'write', 'admin'] as const;
export type Ability = (typeof abilities)[number];

/** A token that the tracker accepts. `login` names its user; default `octo-operator`. */
export type TokenGrant = { token: string; can: Ability; login?: string };

export type Caller = {
  kind: 'anonymous' | 'user' | 'installation' | 'app';
  account: Account;
  can: Ability;
  /** All credentials of one user or installation share one quota. */
  quotaKey: string;
};

export function isAbleTo(caller: Caller, needed: Ability): boolean {
  return abilities.indexOf(caller.can) >= abilities.indexOf(needed);
}

/** Who calls, from the `Authorization` header. @throws Refusal 401 for an unknown credential */
export function identify(
  deps: { world: World; tokens: ReadonlyMap<string, TokenGrant>; apps: AppDesk },
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
    const account = accountOf(world, grant.login ?? 'octo-operator');
    return { kind: 'user', account, can: grant.can, quotaKey: `user-${account.id}` };
  }
  const caller = credential.includes('.')
    ? deps.apps.callerOfJwt(credential)
    : deps.apps.callerOfToken(credential);
  if (!caller) throw refusal(401, 'Bad credentials');
  return caller;
}

function credentialOf(authorization: string): string {
  const [scheme = '', value = ''] = authorization.split(/ +/, 2);
  if (scheme.toLowerCase() !== 'basic') return value;
  return Buffer.from(value, 'base64').toString().split(':').pop() ?? '';
}
