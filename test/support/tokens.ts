import { refusedToken, type TokenPrincipal, type TokenVerifier } from '#access/tokens.ts';

const console = { clientId: 'console', scopes: ['trackport:admin'], workspaceId: 'default' };
const catalogOwner = {
  scopes: ['catalog:read', 'catalog:write', 'catalog:publish'],
  workspaceId: 'default',
};

const principals: Readonly<Record<string, TokenPrincipal>> = {
  admin: { ...console, subject: 'operator-1' },
  'admin-2': { ...console, subject: 'operator-2' },
  owner: { ...catalogOwner, subject: 'owner-1' },
};

/** Knows the tokens `admin`, `admin-2` and `owner`, and those of `tokenFor`: verification is not ours. */
export const verifierOfNames: TokenVerifier = {
  verify: async (token) => {
    const [, made] = /^made\.(.+)$/.exec(token) ?? [];
    const principal =
      made === undefined
        ? principals[token]
        : (JSON.parse(Buffer.from(made, 'base64url').toString()) as TokenPrincipal);
    if (!principal) throw refusedToken();
    return principal;
  },
  status: () => ({ state: 'ok', keys: 1 }),
};

/** A token of an owner of catalogs, but for these facts. */
export function tokenFor(facts: Partial<TokenPrincipal> = {}): string {
  const principal = { ...catalogOwner, subject: 'owner', clientId: 'tool', ...facts };
  return `made.${Buffer.from(JSON.stringify(principal)).toString('base64url')}`;
}
