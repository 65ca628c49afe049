import { z } from 'zod';
import type { IssueQuery, IssueResult, LeadTracker, PageResult } from '#leads/lead-tracker.ts';
import { SECOND, toRfc3339 } from '#shared/clock.ts';
import type { TrackerClient, TrackerResponse } from './transport/client.ts';
import {
  continuationOf,
  type Headers,
  isTrackerFailure,
  toTrackportError,
  TrackerFailure,
} from './transport/response.ts';
import { issueSchema } from './issue.ts';
import type { Repository } from './repository.ts';

const ISSUES_PER_PAGE = 100;
const pageSchema = z.array(issueSchema).max(ISSUES_PER_PAGE);
/** @see https://docs.github.com/en/rest/issues/issues#get-an-issue */
const MOVED = 301;
/** The tracker knows that it was there; of 404 a replica may not have heard yet. */
const GONE = 410;
const ABSENT_STATUSES = [MOVED, 404, GONE];

/** Reads issues over GitHub's REST API. */
export function createLeadTracker(client: TrackerClient, repository: Repository): LeadTracker {
  const { name } = repository;

  const listIssues = async (query: IssueQuery, validator?: string): Promise<PageResult> => {
    const response = await client
      .request(
        'GET /repos/{owner}/{repo}/issues',
        { ...name, ...parametersOf(query) },
        { schema: pageSchema, validator },
      )
      .catch((error: unknown) => refuseList(repository, error));
    const next = nextOf(response, query);
    if (response.kind === 'other') return { kind: 'unchanged', ...next };
    return {
      kind: 'changed',
      page: { issues: response.data, ...next },
      ...validatorOf(response.headers),
    };
  };

  const readIssue = async (number: number, validator?: string): Promise<IssueResult> => {
    const response = await client.request(
      'GET /repos/{owner}/{repo}/issues/{issue_number}',
      { ...name, issue_number: number },
      { schema: issueSchema, accept: ABSENT_STATUSES, validator },
    );
    if (response.kind === 'success') {
      if (response.data.number !== number) throw new TrackerFailure('nonsense');
      return { kind: 'changed', issue: response.data, ...validatorOf(response.headers) };
    }
    if (response.status === 304) return { kind: 'unchanged' };
    // These statuses come also when the repository was renamed, hidden or had its issues disabled.
    await repository.assertWell();
    const { status } = response;
    return { kind: 'absent', isMoved: status === MOVED, isDeleted: status === GONE };
  };

  return {
    listIssues: (query, validator) => listIssues(query, validator).catch(rethrow),
    readIssue: (number, validator) => readIssue(number, validator).catch(rethrow),
    quota: client.quota,
  };
}

function rethrow(error: unknown): never {
  throw toTrackportError(error);
}

/** A list that is not there means that the repository or its issues are not, if not the API's version. */
async function refuseList(repository: Repository, error: unknown): Promise<never> {
  if (!isTrackerFailure(error, 'missing')) throw error;
  if (error.status === 410) await repository.assertWell();
  const kind = error.status === 410 ? 'issues-disabled' : 'repository-missing';
  throw new TrackerFailure(kind, { status: error.status ?? 404 });
}

/**
 * `page` is never sent: deep pages are refused, and page numbers shift under a walk.
 * @see https://docs.github.com/en/rest/issues/issues#list-repository-issues
 */
function parametersOf({ state, labels, order, since, after }: IssueQuery): Record<string, unknown> {
  // Names are separated by commas without escaping; callers match labels again.
  const sendable = labels.filter((label) => !label.includes(','));
  return {
    state,
    sort: order === 'created-desc' ? 'created' : 'updated',
    direction: order === 'created-desc' ? 'desc' : 'asc',
    per_page: ISSUES_PER_PAGE,
    ...(sendable.length > 0 && { labels: sendable.join(',') }),
    ...(since !== undefined && { since: toRfc3339(Math.floor(since / SECOND) * SECOND) }),
    after,
  };
}

/**
 * A 304 speaks for the rows only: its `Link` is as fresh as that of a 200.
 * @throws {TrackerFailure} rather than taking a list for complete that goes on
 */
function nextOf(response: TrackerResponse<unknown>, query: IssueQuery): { after?: string } {
  const continuation = continuationOf(response.headers['link']);
  if (continuation.kind === 'end') return {};
  if (continuation.kind === 'unusable')
    throw new TrackerFailure('numbered-pages', { status: response.status });
  if (continuation.after === query.after)
    throw new TrackerFailure('nonsense', { status: response.status });
  return { after: continuation.after };
}

/** Sent back as it came, with its quotes and `W/`. */
function validatorOf(headers: Headers): { validator?: string } {
  const etag = headers['etag']?.toString();
  return etag === undefined || etag === '' ? {} : { validator: etag };
}
