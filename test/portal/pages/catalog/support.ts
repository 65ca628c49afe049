import type { VersionRecord } from '#catalog/version/artifact.ts';

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
    updatedAt: Date.parse('2026-11-12T10:30:00Z'),
    serial: 1,
    revision: 1,
    ...facts,
  };
}
