import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { createVersion } from '#catalog/version/write-version.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type { Draft } from '#catalog/version/content-check.ts';
import { portalPages } from '#portal/portal.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { openWorld, type WorldOptions } from '../../../support/world.ts';

export const origin = {
  workspaceId: 'default',
  actor: { kind: 'token', subject: 'owner', clientId: 'tool' },
} as const;

/** The pages of a catalog in a portal. */
export function setUp(facts: WorldOptions['catalog'] = {}) {
  const { access, catalog, clock, portal } = openWorld({
    clock: createFakeClock(),
    catalog: facts,
    pages: portalPages,
  });
  const draft = (facts: Partial<Draft> = {}): Draft => ({
    id: 'leads',
    type: 'API',
    owner: 'team',
    title: 'Leads',
    source: 'INLINE',
    ...facts,
  });
  return {
    ...portal,
    catalog,
    clock,
    access,
    draft,
    create: (facts: Partial<Draft> = {}) => createVersion(catalog, origin, draft(facts)),
    publish: (version: string) => publishVersion(catalog, origin, { id: 'leads', version }),
  };
}

/** A version as the catalog stores it. */
export function versionOf(facts: Partial<VersionRecord> = {}): VersionRecord {
  return {
    workspaceId: 'default',
    id: 'lead-intake',
    version: '2.3.0',
    type: 'API',
    owner: 'team-intake',
    title: 'Lead intake API',
    source: 'GIT',
    lifecycle: 'PUBLISHED',
    findings: [],
    createdAt: Date.parse('2026-03-03T09:00:00Z'),
    publishedAt: Date.parse('2026-03-03T09:00:00Z'),
    updatedAt: Date.parse('2026-11-12T10:30:00Z'),
    serial: 1,
    revision: 1,
    ...facts,
  };
}
