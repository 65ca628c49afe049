import type { Account } from './model.ts';

/**
 * What a credential may do with the repositories, each including the ones before it:
 * `none` sees nothing, `read` reads, `edit` edits issues but has labels and assignees dropped in
 * silence, `write` pushes, `admin` deletes issues and changes settings.
 */
const abilities = ['none', 'read', 'edit', 'write', 'admin'] as const;
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
