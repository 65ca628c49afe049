/**
 * Why an event ended as it did, or why its last attempt failed, by the code that its receipt shows.
 * More may come: whoever reads them must take one that it does not know.
 */
export const eventErrors = {
  'not-an-object': 'the element of the batch is no JSON object',
  'names-nobody': 'the event names nobody, or the merge no ids',
  'too-many-ids': 'the merge names more than 250 ids',
  'claim-released': 'an operator gave the lead back',
  'lead-claimed': 'a deletion has claimed the lead that the event names',
  'partner-unknown': 'the configuration of the process that works lacks the partner',
  'payload-unreadable': 'the event cannot be read any more: another `secretKey`, or other `fields`',
  'repository-changed': 'it holds leads of another repository than the configured one',
  transferred: 'the issue was moved to another repository',
  'pull-request': 'the number is that of a pull request',
  'no-issue': 'the tracker has no issue with the number',
  locked: 'the issue takes no comments',
  'too-many-comments': 'the issue has too many comments to look for ours',
  refused: 'the tracker understood the write and refused it (422)',
  forbidden: 'the tracker does not let us write (403)',
  unauthorized: 'the tracker refuses the credential (401)',
  'repository-missing': 'the repository cannot be seen',
  'issues-disabled': 'issues are switched off',
  'not-found': 'the issue is not found by its number, or was not just now',
  'not-applied': 'the issue does not show what was written',
  'labels-dropped': 'the tracker dropped the labels in silence',
  'delete-refused': 'the issue may not be deleted, perhaps for a while only',
  'not-deleted': 'the issue is still there after it was deleted',
  'tracker-limited': 'a rate limit of the tracker is in force',
  'tracker-timeout': 'the tracker did not respond in time',
  'tracker-network': 'the tracker could not be reached',
  'tracker-server': 'the tracker failed (5xx)',
  'tracker-nonsense': 'the tracker’s response cannot be understood',
  'tracker-invalid': 'the tracker refused the request (another 4xx)',
  server: 'the tracker failed while it deleted the issue',
  'internal-error': 'a mistake of ours; the log has it',
} as const;

export type EventErrorCode = keyof typeof eventErrors;

export const eventErrorCodes = Object.keys(eventErrors) as [EventErrorCode, ...EventErrorCode[]];
