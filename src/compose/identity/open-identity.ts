import type { FixedConfig } from '#config/take-over.ts';
import type { ReleaseStack } from '#shared/resilience/release-stack.ts';

import type { Identity, IdentityDeps } from './identity.ts';

/** What needs an issuer is loaded where there is one: a fifth of the code. */
export async function openIdentity(
  deps: Omit<IdentityDeps, 'identity'> & { config: FixedConfig },
  held: ReleaseStack,
): Promise<Identity | undefined> {
  const { identity: rules } = deps.config;
  if (!rules) return undefined;
  const { composeIdentity } = await import('./identity.ts');
  const identity = composeIdentity({ ...deps, identity: rules });
  held.push('the issuer', () => identity.close());
  return identity;
}
