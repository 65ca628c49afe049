import { z } from 'zod';
import { actorOut, type AuditEntry } from '#shared/audit.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { instantOut } from '#shared/instant-out.ts';
import { paginationOut } from '#shared/pagination/page.ts';
import { type Finding, lifecycles, type ListedVersion, type VersionView } from './artifact.ts';

const memberOut = z
  .object({
    id: z.string(),
    type: z.string(),
    title: z.string(),
    lifecycle: z.enum(lifecycles),
    groupPath: z.string().optional(),
  })
  .meta({ id: 'ArtifactMember', description: 'The default version of a member.' });

const findingOut = z.object({ pointer: z.string(), code: z.string(), detail: z.string() }).meta({
  id: 'Finding',
  description: 'What validation says about one place of the spec, or what breaks there.',
}) satisfies z.ZodType<Finding>;

const summary = {
  id: z.string(),
  version: z.string(),
  type: z.string(),
  owner: z.string(),
  title: z.string(),
  description: z.string().optional(),
  lifecycle: z.enum(lifecycles),
  source: z.string(),
  createdAt: instantOut,
  updatedAt: instantOut,
  publishedAt: instantOut.optional(),
  sunsetAt: instantOut.optional(),
  workspaceId: z.string(),
  projectId: z.string().optional(),
  groupPath: z.string().optional(),
};

/** One version as it leaves the service. */
export const artifactOut = z
  .object({
    ...summary,
    members: z.array(memberOut).optional(),
    counts: z.record(z.string(), z.int()),
    findings: z
      .array(findingOut)
      .optional()
      .describe(
        'There when the spec is not valid, or was incompatible with the version before it when it was published.',
      ),
    spec: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'Artifact', description: 'One version of an artifact.' });

const artifactSummaryOut = z.object(summary).meta({
  id: 'ArtifactSummary',
  description: 'A version without `spec`, `members`, `counts` and `findings`.',
});

/** One page of versions. */
export const artifactListOut = z
  .object({ items: z.array(artifactSummaryOut), pagination: paginationOut })
  .meta({ id: 'ArtifactList' });

const artifactAuditEntryOut = z
  .object({
    at: instantOut,
    actor: actorOut,
    action: z.string(),
    version: z.string().optional(),
    changes: z.record(z.string(), z.unknown()).optional(),
    requestId: z.string().optional(),
  })
  .meta({ id: 'ArtifactAuditEntry', description: 'Who did what to an artifact, and when.' });

const versionReaderOut = z
  .object({
    kind: z.enum(['consumer', 'client']),
    id: z
      .string()
      .describe(
        'Of the consumer; or the client as its tokens name it, `unknown` for tokens that name none.',
      ),
    name: z
      .string()
      .optional()
      .describe('Of the consumer, for the scope `trackport:admin` and for the consumer itself.'),
    lastReadAt: instantOut,
    reads: z.int().describe('In the last 90 days, those with a 304 among them.'),
  })
  .meta({ id: 'ArtifactReader', description: 'Who reads a version: never a person.' });

/** One page of an artifact's audit list. */
export const artifactAuditOut = z
  .object({
    items: z.array(artifactAuditEntryOut),
    pagination: paginationOut,
  })
  .meta({ id: 'ArtifactAudit' });

/** The readers of each version. */
export const artifactUsageOut = z
  .object({
    items: z
      .array(
        z
          .object({
            version: z.string(),
            lifecycle: z.enum(lifecycles),
            sunsetAt: instantOut.optional(),
            readers: z
              .array(versionReaderOut)
              .describe(
                'Whoever read last comes first. Empty: nobody read it in the last 90 days.',
              ),
          })
          .meta({ id: 'ArtifactVersionUsage' }),
      )
      .describe('Highest version first.'),
    truncated: z
      .literal(true)
      .optional()
      .describe('There when there are more than 1,000 readers: those who read last are listed.'),
  })
  .meta({ id: 'ArtifactUsage', description: 'Who read which version in the last 90 days.' });

type ArtifactSummaryOut = z.infer<typeof artifactSummaryOut>;
type ArtifactAuditEntryOut = z.infer<typeof artifactAuditEntryOut>;

/** An entry of an artifact's audit list. The version moves out of the changes. */
export function toArtifactAuditEntryOut({
  at,
  actor,
  action,
  changes,
  requestId,
}: AuditEntry): ArtifactAuditEntryOut {
  const { version, ...rest } = changes ?? {};
  return {
    at: toRfc3339(at),
    actor,
    action,
    ...(typeof version === 'string' && { version }),
    ...(Object.keys(rest).length > 0 && { changes: rest }),
    requestId,
  };
}

/** The spec goes out as the text that is stored: it is never parsed to be read. */
export function renderVersion({ record, specText, members, counts }: VersionView): string {
  const text = JSON.stringify({
    ...toArtifactSummaryOut(record),
    members,
    counts,
    ...(record.findings.length > 0 && { findings: record.findings }),
  });
  return specText === undefined ? text : `${text.slice(0, -1)},"spec":${specText}}`;
}

/** A row of a list. */
export function toArtifactSummaryOut(record: ListedVersion): ArtifactSummaryOut {
  const { id, version, type, owner, title, description, lifecycle, source } = record;
  const { workspaceId, projectId, groupPath, publishedAt, sunsetAt } = record;
  return {
    id,
    version,
    type,
    owner,
    title,
    description,
    lifecycle,
    source,
    createdAt: toRfc3339(record.createdAt),
    updatedAt: toRfc3339(record.updatedAt),
    ...(publishedAt !== undefined && { publishedAt: toRfc3339(publishedAt) }),
    ...(sunsetAt !== undefined && { sunsetAt: toRfc3339(sunsetAt) }),
    workspaceId,
    projectId,
    groupPath,
  };
}
