/** The catalog of a Trackport server as the target of an import, over its HTTP API. */
import { matchOfShown } from '#catalog/import/draft-content.ts';
import type { ImportedDraft } from '#catalog/import/import-file.ts';
import type { ImportTarget, VersionName, WrittenVersion } from '#catalog/import/import-target.ts';
import { checkDraft } from '#catalog/version/content-check.ts';

import { createWordCheck } from './check-words.ts';
import { listCandidates } from './list-candidates.ts';
import type { ServerResponse } from './response.ts';
import { foundOrNone, sendRequest, type ServerDeps } from './send-request.ts';
import { readShownVersion } from './shown-version.ts';

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
      ...(body !== undefined && { body }),
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
