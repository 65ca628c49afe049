import { z } from 'zod';
import { SECOND, type TrackerTime } from '#shared/clock.ts';
import type { FieldValue } from '#leads/lead-tracker.ts';
import { foldLabel } from '#shared/text/labels.ts';
import type { IssueEdit } from '#partners/worker/act/issue-edit.ts';
import type { IssueEditor, TrackerRefusal } from '#partners/worker/act/issue-editor.ts';
import type { FieldSetting } from '#partners/receipts/event-progress.ts';
import { createFieldNumbers, NOT_HERE, reasonNotToWrite, type Repository } from './repository.ts';
import type { TrackerResponse, TrackerRequestOptions, TrackerClient } from './transport/client.ts';
import {
  commentsSchema,
  COUNT_REVISIONS,
  DELETE_ISSUE,
  editableSchema,
  fieldValuesSchema,
  isTransientError,
  lockSchema,
  postedSchema,
  removedSchema,
  revisionsSchema,
} from './issue.ts';
import { isTrackerFailure, TrackerFailure, type TrackerFailureKind } from './transport/response.ts';

const COMMENTS_PER_PAGE = 100;
const COMMENT_PAGES_MAX = 100;
const ISSUE = '/repos/{owner}/{repo}/issues/{issue_number}';

/** Access to the issues of one repository. */
type IssueAccess = {
  client: TrackerClient;
  /** Of a repository admin; without one no issue can be deleted. */
  adminClient: () => TrackerClient | undefined;
  repository: Repository;
  clock: TrackerTime;
};

/** Writes to GitHub's issues. Each method is one need of a deletion or a rule. */
export function createIssueEditor(access: IssueAccess): IssueEditor {
  const ofIssue = <T>(work: () => Promise<T>) =>
    refusing(access, () => explainingForbidden(access, work));
  const numberOf = createFieldNumbers(access.client, access.repository, access.clock);
  return {
    canRemove: () => access.adminClient() !== undefined,
    checkRepository: () => refusing(access, () => checkRepository(access)),
    checkWriting: () => refusing(access, () => checkWriting(access)),
    read: (number) => ofIssue(() => read(access, number)),
    edit: (number, edit) => ofIssue(() => write(access, number, edit)),
    setFields: (number, settings, known) =>
      ofIssue(() => setFields({ ...access, numberOf }, number, { settings, known })),
    clearField: (number, fieldId) => ofIssue(() => clearField(access, number, fieldId)),
    findComment: (number, marker) => ofIssue(() => findComment(access, number, marker)),
    comment: (number, text) => ofIssue(() => comment(access, number, text)),
    remove: (nodeId) => refusing(access, () => remove(access, nodeId)),
    countRevisions: (nodeId) => countRevisions(access, nodeId),
  };
}

async function checkRepository({ repository }: IssueAccess) {
  const { facts } = await repository.read();
  if (!facts.hasIssues) return { kind: 'paused', code: 'issues-disabled' } as const;
  return { kind: 'well' } as const;
}

async function checkWriting({ client, repository }: IssueAccess) {
  const { facts, headers } = await repository.read();
  const code = reasonNotToWrite(client, facts, headers);
  return code ? ({ kind: 'paused', code } as const) : ({ kind: 'well' } as const);
}

async function read(access: IssueAccess, number: number) {
  const response = await requestIssue(access, number, {
    route: `GET ${ISSUE}`,
    options: { schema: editableSchema },
  });
  if (response.kind === 'other') return explainAbsence(access, response);
  const { isPullRequest, ...issue } = response.data;
  if (issue.number !== number) throw new TrackerFailure('nonsense');
  return isPullRequest ? ({ kind: 'pull-request' } as const) : ({ kind: 'issue', issue } as const);
}

async function write(access: IssueAccess, number: number, edit: IssueEdit) {
  const { close, reopen, ...fields } = edit;
  const reason = close !== 'without-reason' && { state_reason: close };
  const state = close ? { state: 'closed', ...reason } : reopen && { state: 'open' };
  const response = await requestIssue(access, number, {
    route: `PATCH ${ISSUE}`,
    fields: { ...fields, ...state },
    options: { schema: editableSchema },
  }).catch((error: unknown) => {
    if (isRefusedInput(error) && error.refusedNames.includes('state_reason'))
      return 'reason-refused' as const;
    throw error;
  });
  if (response === 'reason-refused') return { kind: response } as const;
  if (response.kind === 'other') return explainAbsence(access, response, { isWrite: true });
  if (response.data.number !== number) throw new TrackerFailure('nonsense');
  return { kind: 'done', issue: response.data } as const;
}

type FieldWrite = { settings: readonly FieldSetting[]; known: readonly FieldValue[] };

/** @see https://docs.github.com/en/rest/issues/issue-field-values */
async function setFields(
  access: IssueAccess & { numberOf: ReturnType<typeof createFieldNumbers> },
  number: number,
  { settings, known }: FieldWrite,
) {
  const values: { field_id: number; value: unknown }[] = [];
  for (const { name, value } of settings) {
    const own = known.find((field) => foldLabel(field.name) === foldLabel(name));
    const field_id = own?.id ?? (await access.numberOf(name));
    if (field_id === undefined) return { kind: 'invalid', code: 'field-unknown' } as const;
    values.push({ field_id, value });
  }
  const response = await requestIssue(access, number, {
    route: `POST ${ISSUE}/issue-field-values`,
    fields: { issue_field_values: values },
    options: { schema: fieldValuesSchema },
  });
  if (response.kind === 'other') return explainAbsence(access, response, { isWrite: true });
  return { kind: 'done', fieldValues: response.data } as const;
}

async function clearField(access: IssueAccess, number: number, fieldId: number) {
  const response = await requestIssue(access, number, {
    route: `DELETE ${ISSUE}/issue-field-values/{issue_field_id}`,
    fields: { issue_field_id: fieldId },
    options: { schema: z.unknown() },
  });
  if (response.kind === 'other') return explainAbsence(access, response, { isWrite: true });
  return { kind: 'done' } as const;
}

/** Comments are listed by page, oldest first; a list of them has no cursors. */
async function findComment(access: IssueAccess, number: number, marker: string) {
  for (let page = 1; page <= COMMENT_PAGES_MAX; page += 1) {
    const response = await requestIssue(access, number, {
      route: `GET ${ISSUE}/comments`,
      fields: { per_page: COMMENTS_PER_PAGE, page },
      options: { schema: commentsSchema },
    });
    if (response.kind === 'other') return explainAbsence(access, response);
    const isAlone = page === 1 && response.data.length === 1;
    if (response.data.some(({ body }) => body?.includes(marker)))
      return { kind: 'found', isAlone } as const;
    if (response.data.length < COMMENTS_PER_PAGE) return { kind: 'none' } as const;
  }
  return { kind: 'invalid', code: 'too-many-comments' } as const;
}

async function comment(access: IssueAccess, number: number, text: string) {
  const response = await requestIssue(access, number, {
    route: `POST ${ISSUE}/comments`,
    fields: { body: text },
    options: { schema: postedSchema },
  }).catch(async (error: unknown) => {
    if (isTrackerFailure(error, 'forbidden') && (await isLocked(access, number)))
      return 'locked' as const;
    throw error;
  });
  if (response === 'locked') return { kind: 'invalid', code: 'locked' } as const;
  return response.kind === 'other'
    ? explainAbsence(access, response, { isWrite: true })
    : ({ kind: 'done' } as const);
}

/** Only who may push comments on a locked issue: that is no reason to stop everything else. */
async function isLocked(access: IssueAccess, number: number): Promise<boolean> {
  const response = await requestIssue(access, number, {
    route: `GET ${ISSUE}`,
    options: { schema: lockSchema },
  });
  return response.kind === 'success' && response.data.locked === true;
}

type IssueRequest<T> = {
  route: string;
  fields?: Record<string, unknown>;
  options: TrackerRequestOptions<T>;
};

function requestIssue<T>(
  { client, repository }: IssueAccess,
  number: number,
  { route, fields, options }: IssueRequest<T>,
): Promise<TrackerResponse<T>> {
  const parameters = { ...repository.name, issue_number: number, ...fields };
  return client.request(route, parameters, { ...options, accept: NOT_HERE });
}

/**
 * A renamed or hidden repository, and one without issues, looks like a lead that is gone, and so
 * does a write that is not permitted: a deletion must never end as done for that.
 */
async function explainAbsence(
  { client, repository }: IssueAccess,
  { status }: { status: number },
  { isWrite = false } = {},
): Promise<TrackerRefusal> {
  const { facts, headers } = await repository.read();
  if (!facts.hasIssues) return { kind: 'paused', code: 'issues-disabled' };
  const reason = isWrite ? reasonNotToWrite(client, facts, headers) : undefined;
  if (reason) return { kind: 'paused', code: reason };
  if (status < 400) return { kind: 'transferred' };
  return { kind: 'gone', isDeleted: status === 410 };
}

/** A 403 about one issue says nothing of the others, unless the repository knows of a reason. */
async function explainingForbidden<T>(
  { client, repository }: IssueAccess,
  work: () => Promise<T>,
): Promise<T | TrackerRefusal> {
  try {
    return await work();
  } catch (error) {
    if (!isTrackerFailure(error, 'forbidden')) throw error;
    const { facts, headers } = await repository.read();
    const code = reasonNotToWrite(client, facts, headers);
    return code ? { kind: 'paused', code } : { kind: 'forbidden' };
  }
}

async function remove(access: IssueAccess, nodeId: string) {
  const adminClient = access.adminClient();
  if (!adminClient) return impossible(true);
  try {
    const parameters = { query: DELETE_ISSUE, variables: { issueId: nodeId } };
    const options = { schema: removedSchema };
    const response = await adminClient.request('POST /graphql', parameters, options);
    if (response.kind === 'other') throw new TrackerFailure('nonsense');
    const { data, errors } = response.data;
    if (isTransientError(errors)) return { kind: 'transient', code: 'tracker-server' } as const;
    const isDone = data?.deleteIssue !== undefined && data.deleteIssue !== null && !errors?.length;
    return isDone ? ({ kind: 'done' } as const) : impossible(true);
  } catch (error) {
    // The admin token is only for this: that it may not is no reason to stop everything else.
    if (isTrackerFailure(error) && MAY_NOT.has(error.kind)) return impossible(false);
    throw error;
  }
}

function impossible(isCertain: boolean) {
  return { kind: 'impossible', isCertain } as const;
}

const MAY_NOT = new Set<TrackerFailureKind>(['unauthorized', 'forbidden', 'missing', 'moved']);

async function countRevisions({ client }: IssueAccess, id: string) {
  try {
    const parameters = { query: COUNT_REVISIONS, variables: { id } };
    const response = await client.request('POST /graphql', parameters, { schema: revisionsSchema });
    return response.kind === 'other'
      ? undefined
      : response.data.data.node?.userContentEdits?.totalCount;
  } catch (error) {
    if (isTrackerFailure(error)) return undefined;
    throw error;
  }
}

/** The result of `work`, or what its failure means for a deletion. Bugs pass unchanged. */
async function refusing<T>({ clock }: IssueAccess, work: () => Promise<T>) {
  try {
    return await work();
  } catch (error) {
    if (!isTrackerFailure(error)) throw error;
    return toRefusal(error, clock.now());
  }
}

const meanings: Record<Exclude<TrackerFailureKind, 'limited'>, TrackerRefusal> = {
  unauthorized: { kind: 'paused', code: 'unauthorized' },
  forbidden: { kind: 'paused', code: 'forbidden' },
  missing: { kind: 'paused', code: 'repository-missing' },
  moved: { kind: 'paused', code: 'repository-missing' },
  'version-retired': { kind: 'paused', code: 'version-retired' },
  'repository-missing': { kind: 'paused', code: 'repository-missing' },
  'issues-disabled': { kind: 'paused', code: 'issues-disabled' },
  timeout: { kind: 'transient', code: 'tracker-timeout' },
  network: { kind: 'transient', code: 'tracker-network' },
  server: { kind: 'transient', code: 'tracker-server' },
  nonsense: { kind: 'transient', code: 'tracker-nonsense' },
  'numbered-pages': { kind: 'transient', code: 'tracker-nonsense' },
  invalid: { kind: 'transient', code: 'tracker-invalid' },
};

function toRefusal(failure: TrackerFailure, now: number): TrackerRefusal {
  const { kind, retryAfterSeconds } = failure;
  if (kind === 'limited')
    return { kind: 'limited', retryAt: now + (retryAfterSeconds ?? 60) * SECOND };
  return isRefusedInput(failure) ? { kind: 'invalid', code: 'refused' } : meanings[kind];
}

/** @see https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api */
function isRefusedInput(error: unknown): error is TrackerFailure {
  return isTrackerFailure(error, 'invalid') && error.status === 422;
}
