import type { Account } from '../../world/model.ts';

/**
 * Rights of a credential to the repositories, each including the ones before it:
 * `none` sees nothing, `read` reads, `edit` edits issues but has labels and assignees dropped in
 * silence, `write` pushes, `admin` deletes issues and changes settings.
 */
const abilities = ['none', 'read', 'edit', 'write', 'admin'] as const;
export type Ability = (typeof abilities)[number];

export const DEFAULT_LOGIN = 'octo-operator';

/** A token that the tracker accepts. */
export type TokenGrant = {
  token: string;
  /** Rights of its user. */
  can: Ability;
  /** The user; default `octo-operator`. */
  login?: string;
  /** Makes it a classic token, which may do what its user may within these: `repo`, `public_repo`. */
  scopes?: readonly string[];
};

export type Caller = {
  kind: 'anonymous' | 'user' | 'installation' | 'app';
  account: Account;
  can: Ability;
  scopes?: readonly string[];
  /** All credentials of one user or installation share one quota. */
  quotaKey: string;
};

/** True when the scopes of a classic token reach a repository; other credentials have none. */
export function isInScope({ scopes }: Caller, { isPrivate }: { isPrivate: boolean }): boolean {
  if (scopes === undefined || scopes.includes('repo')) return true;
  return !isPrivate && scopes.includes('public_repo');
}

export function isAbleTo(caller: Pick<Caller, 'can'>, needed: Ability): boolean {
  return abilities.indexOf(caller.can) >= abilities.indexOf(needed);
}

/** Issues can be assigned to whoever may push: the users of these tokens, by login in lower case. */
export function assignableLogins(tokens: readonly TokenGrant[]): ReadonlySet<string> {
  return new Set(
    tokens
      .filter(({ can }) => isAbleTo({ can }, 'write'))
      .map(({ login = DEFAULT_LOGIN }) => login.toLowerCase()),
  );
}
