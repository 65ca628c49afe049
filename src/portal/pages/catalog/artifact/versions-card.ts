import type { VersionRecord } from '#catalog/version/artifact.ts';
import type { Pagination } from '#shared/pagination/page.ts';
import type { PortalPerson } from '../../../person.ts';
import { html } from '../../../html.ts';
import type { Html } from '../../../html.ts';
import { card } from '../../../shell/card.ts';
import { code, link, note, tag } from '../../../shell/parts.ts';
import { pager, table } from '../../../shell/table.ts';
import { count, counted, time } from '../../../shell/times.ts';
import type { Reader } from '../../../shell/times.ts';
import { offeredActions } from '../actions-offered.ts';
import { artifactPath } from '../query.ts';
import { lifecycleBadge, sunsetDay } from '../words.ts';

export type VersionsFacts = {
  id: string;
  person: PortalPerson;
  versions: readonly VersionRecord[];
  pagination: Pagination;
  /** Where this page of versions begins; undefined for the highest. */
  cursor?: string | undefined;
  /** The version that a read without one returns. */
  defaultVersion?: string | undefined;
  /** The default version is one that was set, not computed. */
  isDefaultSet?: boolean;
};

/** The versions of an artifact, highest first, with what one may do about each. */
export function versionsCard(given: VersionsFacts, reader: Reader): Html {
  const { id, versions, pagination, cursor } = given;
  const isPaged = cursor !== undefined || pagination.nextCursor !== undefined;
  return card(
    { id: 'h-versions', heading: 'Versions' },
    versionTable(given, reader),
    isPaged &&
      pager({
        summary: `${counted(versions.length, 'version')} on this page, highest first`,
        words: { newest: 'Highest', older: 'Lower' },
        ...(cursor !== undefined && { newest: artifactPath(id) }),
        ...(pagination.nextCursor !== undefined && {
          older: artifactPath(id, { cursor: pagination.nextCursor }),
        }),
      }),
  );
}

function versionTable(given: VersionsFacts, reader: Reader): Html {
  const { versions, person, defaultVersion, isDefaultSet = false } = given;
  const isDefault = ({ version }: VersionRecord): boolean => version === defaultVersion;
  return table<VersionRecord>({
    caption: 'Versions, highest first',
    rows: versions,
    columns: [
      {
        label: 'Version',
        cell: (record) =>
          html`${versionLink(record)}
          ${isDefault(record) && tag(isDefaultSet ? 'default, set' : 'default')}`,
      },
      { label: 'Lifecycle', cell: (record) => state(record, reader) },
      {
        label: 'Published',
        cell: ({ publishedAt }) =>
          publishedAt === undefined ? 'not yet' : time(publishedAt, reader, 'day'),
      },
      { label: 'Sunset', cell: ({ sunsetAt }) => sunsetAt && sunsetDay(sunsetAt, reader) },
      { label: 'Findings', kind: 'number', cell: findingsLink },
      {
        label: 'Actions',
        kind: 'acts',
        cell: (record) =>
          offeredActions(record, {
            person,
            isDefault: isDefault(record),
            isSetDefault: isDefaultSet && isDefault(record),
          }),
      },
    ],
  });
}

function versionLink({ id, version }: VersionRecord): Html {
  return link({ href: artifactPath(id, { version }), text: code(version) });
}

function state({ lifecycle, deprecatedAt }: VersionRecord, reader: Reader): Html {
  const since = lifecycle === 'DEPRECATED' ? deprecatedAt : undefined;
  return html`${lifecycleBadge(lifecycle)}${since && note('since ', time(since, reader, 'day'))}`;
}

function findingsLink({ id, version, findings }: VersionRecord): Html | string {
  if (findings.length === 0) return '0';
  const href = `${artifactPath(id, { version })}#h-findings`;
  return link({ href, text: count(findings.length), more: `of ${version}` });
}
