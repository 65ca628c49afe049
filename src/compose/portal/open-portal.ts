import type { Catalog } from '#catalog/index.ts';
import type { FixedConfig } from '#config/take-over.ts';
import type { AppDeps } from '#http/app.ts';
import type { ReleaseStack } from '#shared/resilience/release-stack.ts';

import type { Identity } from '../identity/identity.ts';
import type { PortalParts } from './portal.ts';

type Parts = Omit<PortalParts, 'portal' | 'rules' | 'identity' | 'catalog'> & {
  config: FixedConfig;
  identity: Identity | undefined;
  catalog: Catalog | undefined;
};

/** The portal and what only it needs are loaded where one is configured: nobody else pays for it. */
export async function openPortal(
  { identity, catalog, ...parts }: Parts,
  held: ReleaseStack,
): Promise<Pick<AppDeps, 'portal'>> {
  const { portal, identity: rules } = parts.config;
  if (!portal || !rules || !identity || !catalog) return {};
  const { composePortal } = await import('./portal.ts');
  return { portal: await composePortal({ ...parts, portal, rules, identity, catalog }, held) };
}
