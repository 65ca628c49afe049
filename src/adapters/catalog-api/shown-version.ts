import { z } from 'zod';
import { TargetFailure } from '#catalog/import/import-target.ts';
import { readSpecBody } from '#catalog/spec/spec-body.ts';
import type { Finding } from '#catalog/spec/finding.ts';
import type { Content, Lifecycle } from '#catalog/version/artifact.ts';
import { artifactOut } from '#catalog/version/version-out.ts';

import type { ServerResponse } from './response.ts';

/** What a response with one version shows of it. */
export type ShownVersion = {
  lifecycle: Lifecycle;
  tag: string;
  findings: readonly Finding[];
  /** `members` are those that have a default version, `counts` the computed ones too. */
  content: Content;
};

/** Members that a later server may add are passed over. */
const versionIn = artifactOut
  .omit({ spec: true })
  .extend({ members: z.array(z.object({ id: z.string() })).exactOptional() });

/** Reads a response with one version. @throws {TargetFailure} when it is none */
export function readShownVersion({ headers, bytes }: ServerResponse): ShownVersion {
  const { value, spec } = readSpecBody(bytes);
  const tag = headers.get('etag');
  const { data, error } = versionIn.safeParse(value);
  if (!data || tag === null)
    throw new TargetFailure('The server sent a version that this program cannot read.', {
      cause: error,
    });
  const { type, owner, title, description, source, projectId, groupPath, counts } = data;
  return {
    lifecycle: data.lifecycle,
    tag,
    findings: data.findings ?? [],
    content: {
      type,
      owner,
      title,
      source,
      counts,
      ...(description !== undefined && { description }),
      ...(projectId !== undefined && { projectId }),
      ...(groupPath !== undefined && { groupPath }),
      ...(data.members && { members: data.members.map(({ id }) => id) }),
      ...(spec && { specText: spec.text }),
    },
  };
}
