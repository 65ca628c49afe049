import type { VersionRecord } from './artifact.ts';
import { orderOf } from './order/version-order.ts';

/**
 * A version by the columns that every engine has for it, lists and objects as JSON. Its id and its serial
 * are the store's.
 */
export function toVersionColumns(record: Omit<VersionRecord, 'serial' | 'id'>) {
  return {
    workspaceId: record.workspaceId,
    version: record.version,
    orderKey: orderOf(record.version).key,
    revision: record.revision,
    lifecycle: record.lifecycle,
    type: record.type,
    source: record.source,
    owner: record.owner,
    title: record.title,
    projectId: record.projectId,
    groupPath: record.groupPath,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    publishedAt: record.publishedAt,
    deprecatedAt: record.deprecatedAt,
    sunsetAt: record.sunsetAt,
    members: record.members && JSON.stringify(record.members),
    counts: record.counts && JSON.stringify(record.counts),
    findings: record.findings.length === 0 ? undefined : JSON.stringify(record.findings),
    description: record.description,
  };
}
