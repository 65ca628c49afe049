/** The catalog of a Trackport server as the target of an import, over its HTTP API. */
import { z } from 'zod';
import {
  type ImportTarget,
  matchOfShown,
  TargetFailure,
  type VersionName,
  type WrittenVersion,
} from '#catalog/import/import-target.ts';
import type { ImportedDraft } from '#catalog/import/import-file.ts';
import { checkDraft } from '#catalog/version/content-check.ts';
import { isTrackportError, type TrackportError, validationFailed } from '#shared/errors.ts';
import { type Content, type Lifecycle, lifecycles } from '#catalog/version/artifact.ts';
import type { Candidate } from '#catalog/version/version-order.ts';
import { readSpecBody, type SpecBody } from '#catalog/spec/spec-body.ts';
import type { Finding } from '#catalog/spec/finding.ts';
import { artifactOut } from '#catalog/version/version-out.ts';
import {
  foundOrNone,
  jsonOf,
  sendRequest,
  type ServerDeps,
  type ServerResponse,
} from './send-request.ts';

export type ServerTargetDeps = ServerDeps & {
  /** Another key each time, for what is to be done once however often it is sent. */
  newKey: () => string;
};

const ROOT = '/api/v1/catalog';

/** Each write can be sent again without doing it twice. */
export function createServerTarget(deps: ServerTargetDeps): ImportTarget {
  const checkWords = createWordCheck((target) => sendRequest(deps, { method: 'GET', target }));
  const post = (target: string, headers: Record<string, string>, body?: string) =>
    sendRequest(deps, {
      method: 'POST',
      target,
      headers: { ...headers, 'idempotency-key': deps.newKey() },
      body,
    });
  return {
    check: async (draft) => {
      const { type, source } = draft;
      // The server has words of its own, so it is asked about them.
      checkDraft(draft, { types: [type], sources: [source] });
      await checkWords({ type, source });
    },
    read: async (draft) => {
      const response = await foundOrNone(
        sendRequest(deps, { method: 'GET', target: addressOf(draft) }),
      );
      if (!response) return undefined;
      const { lifecycle, tag, findings, content } = readShownVersion(response);
      return { lifecycle, tag, findings, match: matchOfShown(draft, content) };
    },
    candidates: (id) => listCandidates(deps, id),
    specText: async (name) =>
      readShownVersion(await sendRequest(deps, { method: 'GET', target: addressOf(name) })).content
        .specText,
    create: async (draft) => toWritten(await post(ROOT, {}, bodyOf(draft))),
    replace: async (draft, tag) =>
      toWritten(
        await sendRequest(deps, {
          method: 'PUT',
          target: addressOf(draft),
          headers: { 'if-match': tag },
          body: bodyOf(draft),
        }),
      ),
    publish: async (name, { tag, acceptsBreaking }) => {
      const breaking = acceptsBreaking ? '&breaking=accept' : '';
      return toWritten(
        await post(`${addressOf(name, '/publish')}${breaking}`, { 'if-match': tag }),
      );
    },
  };
}

function addressOf({ id, version }: VersionName, path = ''): string {
  return `${ROOT}/${encodeURIComponent(id)}${path}?version=${encodeURIComponent(version)}`;
}

/** The spec stands as it is: numbers keep every digit. */
function bodyOf({ specText, ...draft }: ImportedDraft): string {
  const fields = JSON.stringify(draft);
  return specText === undefined ? fields : `${fields.slice(0, -1)},"spec":${specText}}`;
}

function toWritten(response: ServerResponse): WrittenVersion {
  const { tag, findings } = readShownVersion(response);
  return { tag, findings };
}

type Words = { type: string; source: string };

/**
 * Looks whether the server knows the type and the source of a draft, each pair once: a filter with a word
 * that it does not know is refused. Its words are those of its own configuration.
 * @throws {validation-failed} with a pointer for each that it does not know
 */
function createWordCheck(
  get: (target: string) => Promise<unknown>,
): (words: Words) => Promise<void> {
  const checked = new Map<string, TrackportError | undefined>();
  return async ({ type, source }) => {
    const query = new URLSearchParams({ type, source, limit: '1' }).toString();
    if (!checked.has(query)) checked.set(query, await refusalOf(get(`/api/v1/catalog?${query}`)));
    const refusal = checked.get(query);
    if (refusal) throw refusal;
  };
}

async function refusalOf(work: Promise<unknown>): Promise<TrackportError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (!isTrackportError(error, 'validation-failed')) throw error;
    return validationFailed(
      (error.errors ?? []).map(({ parameter = '', code, detail }) => ({
        pointer: `#/${parameter}`,
        code,
        detail,
      })),
    );
  }
}

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
async function listCandidates(deps: ServerDeps, id: string): Promise<readonly Candidate[]> {
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

/** What a response with one version shows of it. */
type ShownVersion = {
  lifecycle: Lifecycle;
  tag: string;
  findings: readonly Finding[];
  /** `members` are those that have a default version, `counts` the computed ones too. */
  content: Content;
};

/** Members that a later server may add are passed over. */
const versionIn = artifactOut
  .omit({ spec: true })
  .extend({ members: z.array(z.object({ id: z.string() })).optional() });

/** Reads a response with one version. @throws {TargetFailure} when it is none */
function readShownVersion({ headers, bytes }: ServerResponse): ShownVersion {
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
      description,
      projectId,
      groupPath,
      members: data.members?.map(({ id }) => id),
      specText: spec?.text,
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
