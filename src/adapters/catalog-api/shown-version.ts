import { z } from 'zod';
import { TargetFailure } from '#catalog/import/import-target.ts';
import { readSpecBody, type SpecBody } from '#catalog/spec/spec-body.ts';
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
  const { value, spec } = readBody(bytes);
  const tag = headers.get('etag');
  const { data, error } = versionIn.safeParse(value);
  if (!data || tag === null) refuseVersion(error);
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

/** What is wrong with a response is nothing that a file could mend. */
function readBody(bytes: Buffer): SpecBody {
  try {
    return readSpecBody(bytes);
  } catch (error) {
    return refuseVersion(error);
  }
}

function refuseVersion(cause: unknown): never {
  throw new TargetFailure('The server sent a version that this program cannot read.', { cause });
}
