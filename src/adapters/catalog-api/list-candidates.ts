import { z } from 'zod';
import { TargetFailure } from '#catalog/import/import-target.ts';
import { lifecycles } from '#catalog/version/artifact.ts';
import type { Candidate } from '#catalog/version/order/default-version.ts';

import { jsonOf } from './response.ts';
import { foundOrNone, sendRequest, type ServerDeps } from './send-request.ts';

const pageIn = z.object({
  items: z.array(
    z.object({
      version: z.string(),
      type: z.string(),
      lifecycle: z.enum(lifecycles),
      createdAt: z.iso.datetime(),
      publishedAt: z.iso.datetime().optional(),
    }),
  ),
  pagination: z.object({ nextCursor: z.string().optional() }),
});

type ListedVersion = z.infer<typeof pageIn>['items'][number];

/** Every version of an artifact; none where there is no artifact. Throws as `sendRequest` does. */
export async function listCandidates(deps: ServerDeps, id: string): Promise<readonly Candidate[]> {
  const listed: ListedVersion[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: '100', ...(cursor !== undefined && { cursor }) });
    const target = `/api/v1/catalog/${encodeURIComponent(id)}/versions?${query.toString()}`;
    const response = await foundOrNone(sendRequest(deps, { method: 'GET', target }));
    if (!response) return [];
    const { data, error } = pageIn.safeParse(jsonOf(response));
    if (!data)
      throw new TargetFailure('The server sent versions that this program cannot read.', {
        cause: error,
      });
    listed.push(...data.items);
    cursor = data.pagination.nextCursor;
  } while (cursor !== undefined);
  return listed
    .map(toTimes)
    .toSorted((left, right) => left.createdAt - right.createdAt)
    .map(toCandidate);
}

function toTimes({ createdAt, publishedAt, ...version }: ListedVersion) {
  return {
    ...version,
    createdAt: Date.parse(createdAt),
    ...(publishedAt !== undefined && { publishedAt: Date.parse(publishedAt) }),
  };
}

/** Versions are numbered as they were made, as the server's own serial numbers are. */
function toCandidate(version: ReturnType<typeof toTimes>, index: number): Candidate {
  return { ...version, serial: index + 1 };
}
