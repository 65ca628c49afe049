/** The catalog of a Trackport server as the target of an import, by its client. */
import { createClient, type TrackportClient, unwrap } from '@trackport/client';
import { z } from 'zod';
import {
  type ImportTarget,
  matchOfShown,
  TargetFailure,
  type TokenSource,
  type VersionName,
  type WrittenVersion,
} from '#catalog/import/import-target.ts';
import type { ImportedDraft } from '#catalog/import/import-file.ts';
import { checkDraft } from '#catalog/version/content-check.ts';
import { isTrackportError, type TrackportError, validationFailed } from '#shared/errors.ts';
import type { Content, Finding, Lifecycle } from '#catalog/version/artifact.ts';
import type { Candidate } from '#catalog/version/version-order.ts';
import { readSpecBody, type SpecBody } from '#catalog/spec/spec-body.ts';
import { artifactOut } from '#catalog/version/version-out.ts';
import { newUuid } from '#shared/ids.ts';
import { SECOND } from '#shared/clock.ts';
import { createCaller, foundOrNone, type Result } from './server-call.ts';

/** A server's longest work on one version, its waiting line included, ends before. */
const REQUEST_TIMEOUT_MS = 90 * SECOND;
/** About a quarter of a minute in all: longer than a server takes to start again. */
const ATTEMPTS_MAX = 6;
/** Whoever asks for a longer wait is asked again by the next run. */
const WAIT_MS_MAX = 120 * SECOND;

/** `server` is its root. Each write can be sent again without doing it twice. */
export function createServerTarget(server: string, tokens: TokenSource): ImportTarget {
  const client = createClient({
    baseUrl: server,
    token: () => tokens.token(),
    // The token goes to no other place than the one that was named.
    redirect: 'manual',
    attemptsMax: ATTEMPTS_MAX,
    timeoutMs: REQUEST_TIMEOUT_MS,
    waitMsMax: WAIT_MS_MAX,
  });
  const call = createCaller(server, tokens);
  return { ...createReads(client, call), ...createWrites(client, call) };
}

type Read = Pick<ImportTarget, 'check' | 'read' | 'candidates' | 'specText'>;
type Write = Omit<ImportTarget, keyof Read>;
type Call = ReturnType<typeof createCaller>;

function createReads(client: TrackportClient, call: Call): Read {
  const checkWords = createWordCheck((query) =>
    call(() => client.GET('/api/v1/catalog', { params: { query } })),
  );
  const read = async (name: VersionName): Promise<ShownVersion> => {
    const params = paramsOf(name);
    return readShownVersion(
      await call(() => client.GET('/api/v1/catalog/{id}', { params, parseAs: 'text' })),
    );
  };
  return {
    check: async (draft) => {
      const { type, source } = draft;
      // The server has words of its own, so it is asked about them.
      checkDraft(draft, { types: [type], sources: [source] });
      await checkWords({ type, source });
    },
    read: async (draft) => {
      const found = await foundOrNone(read(draft));
      if (!found) return undefined;
      const { lifecycle, tag, findings, content } = found;
      return { lifecycle, tag, findings, match: matchOfShown(draft, content) };
    },
    candidates: (id) =>
      listCandidates((cursor) => {
        const query = { limit: 100, ...(cursor !== undefined && { cursor }) };
        const params = { path: { id }, query };
        return call(() => client.GET('/api/v1/catalog/{id}/versions', { params }));
      }),
    specText: async (name) => (await read(name)).content.specText,
  };
}

function createWrites(client: TrackportClient, call: Call): Write {
  const parseAs = 'text';
  return {
    create: async (draft) => {
      const request = { params: { header: once() }, ...jsonOf(draft), parseAs } as const;
      return toWritten(await call(() => client.POST('/api/v1/catalog', request)));
    },
    replace: async (draft, tag) => {
      const params = { ...paramsOf(draft), header: { 'If-Match': tag } };
      const request = { params, ...jsonOf(draft), parseAs } as const;
      return toWritten(await call(() => client.PUT('/api/v1/catalog/{id}', request)));
    },
    publish: async (name, { tag, acceptsBreaking }) => {
      const { path, query } = paramsOf(name);
      const breaking = acceptsBreaking ? { breaking: 'accept' as const } : {};
      const header = { ...once(), 'If-Match': tag };
      const params = { path, query: { ...query, ...breaking }, header };
      return toWritten(
        await call(() => client.POST('/api/v1/catalog/{id}/publish', { params, parseAs })),
      );
    },
  };
}

/** Sent again, it is the same call. */
const once = () => ({ 'Idempotency-Key': newUuid() });

function paramsOf({ id, version }: VersionName) {
  return { path: { id }, query: { version } };
}

/** The spec stands as it is: numbers keep every digit. */
function jsonOf({ specText, ...draft }: ImportedDraft) {
  const fields = JSON.stringify(draft);
  const text = specText === undefined ? fields : `${fields.slice(0, -1)},"spec":${specText}}`;
  return { body: draft as never, bodySerializer: () => text };
}

function toWritten(result: Result<string>): WrittenVersion {
  const { tag, findings } = readShownVersion(result);
  return { tag, findings };
}

type Words = { type: string; source: string };

/**
 * Looks whether the server knows the type and the source of a draft, each pair once: a filter with a word
 * that it does not know is refused. Its words are those of its own configuration.
 * @throws {validation-failed} with a pointer for each that it does not know
 */
function createWordCheck(
  list: (query: Words & { limit: number }) => Promise<unknown>,
): (words: Words) => Promise<void> {
  const checked = new Map<string, TrackportError | undefined>();
  return async ({ type, source }) => {
    const pair = `${type} ${source}`;
    if (!checked.has(pair)) checked.set(pair, await refusalOf(list({ type, source, limit: 1 })));
    const refusal = checked.get(pair);
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

type ListedVersion = {
  version: string;
  type: string;
  lifecycle: Lifecycle;
  createdAt: string;
  publishedAt?: string;
};
type VersionPage = { items: ListedVersion[]; pagination: { nextCursor?: string } };

/** Every version of an artifact; none where there is no artifact. */
async function listCandidates(
  list: (cursor: string | undefined) => Promise<Result<VersionPage>>,
): Promise<readonly Candidate[]> {
  const listed: ListedVersion[] = [];
  let cursor: string | undefined;
  do {
    const page = await foundOrNone(list(cursor));
    if (!page) return [];
    const { items, pagination } = unwrap(page);
    listed.push(...items);
    cursor = pagination.nextCursor;
  } while (cursor !== undefined);
  return (
    listed
      .map(toTimes)
      .toSorted((left, right) => left.createdAt - right.createdAt)
      // Numbered as they were made, as the server's own serial numbers are.
      .map((version, index) => ({ ...version, serial: index + 1 }))
  );
}

function toTimes({ createdAt, publishedAt, ...version }: ListedVersion) {
  return {
    ...version,
    createdAt: Date.parse(createdAt),
    ...(publishedAt !== undefined && { publishedAt: Date.parse(publishedAt) }),
  };
}

/** A version as a response shows it. */
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
function readShownVersion(result: Result<string>): ShownVersion {
  const { value, spec } = readBody(unwrap(result));
  const tag = result.response.headers.get('etag');
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

/** No file could mend a response that is wrong. */
function readBody(text: string): SpecBody {
  try {
    return readSpecBody(Buffer.from(text));
  } catch (error) {
    return refuseVersion(error);
  }
}

function refuseVersion(cause: unknown): never {
  throw new TargetFailure('The server sent a version that this program cannot read.', { cause });
}
