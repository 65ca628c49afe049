import type { ErrorCode } from '#shared/errors.ts';

type ProblemHelp = {
  meaning: string;
  /** What the client does about it. */
  remedy: string;
  /**
   * On a page of the portal, for a person at a browser. What is left out there is said by the error itself, else by
   * the code's title, meaning and remedy.
   */
  onPage?: { heading?: string; text?: string; nextStep?: string };
};

const RETRY_LATER =
  'Wait as long as the header Retry-After says, then send the same request again.';

const TRY_AGAIN = { nextStep: 'wait a few seconds, then try again.' };
const LOOK_AGAIN = { nextStep: 'go back, and look at the state it has now.' };

/** What is said of each problem, wherever it is. Plain text without markup. */
export const problemHelp: Readonly<Record<ErrorCode, ProblemHelp>> = {
  'validation-failed': {
    meaning: 'A parameter, a header or a field of the body is wrong, missing, repeated or unknown.',
    remedy:
      'Look at the list called errors: each entry names one wrong part and what is expected there. Correct all of them; sending the same again gives the same answer.',
    onPage: { nextStep: 'open the page anew, and choose there.' },
  },
  'malformed-json': {
    meaning:
      'The body is not one JSON text in UTF-8, nests deeper than 64 levels, has a name twice in one object, or has a key that is not allowed.',
    remedy: 'Send one JSON text as the whole body.',
  },
  'invalid-cursor': {
    meaning:
      'The cursor was altered or cut short, comes from another version, or was used with other filters or by another consumer than it was made for. The list called errors names each filter that differs.',
    remedy:
      'A cursor repeats the filters of its list: leave them out beside it, or keep them as they are; only limit may change. To read another list, start without a cursor. In the lead feed that would begin now: empty your copy there, and begin again with from=start.',
    onPage: {
      heading: 'This part of the list cannot be shown',
      text: 'Its address was cut short or changed, or comes from another version of this service.',
      nextStep: 'open the list from its start, and filter it there.',
    },
  },
  'cursor-expired': {
    meaning:
      'The cursor of the lead feed is older than 30 days, or what this key may read has changed since it was made: from there on the feed would not tell the truth about your copy.',
    remedy: 'Empty your copy, and begin again with from=start and without a cursor.',
  },
  'bad-request': {
    meaning: 'The request is not well-formed HTTP/1.1.',
    remedy: 'Check the client library and what stands between it and this service.',
  },
  unauthorized: {
    meaning:
      'The request has no credential, or one that is not valid: unknown, mistyped, expired or revoked. Which of these is not told.',
    remedy:
      'The header WWW-Authenticate names the kind of credential that is wanted. Check the one that you send; if it is right, ask the operator for a new one.',
  },
  'insufficient-scope': {
    meaning: 'The credential is good, but does not carry the grant or scope that this call needs.',
    remedy: 'Ask the operator for the grant or scope, or use another credential.',
  },
  'lead-not-found': {
    meaning: 'There is no lead with this id that this key may see.',
    remedy:
      'Nothing, when the lead was withdrawn or deleted. Otherwise take the id from the list of leads.',
  },
  'artifact-not-found': {
    meaning:
      'There is no such artifact in your workspace, or it has no such version; the detail says which.',
    remedy: 'Check the id and the version, and which workspace your token is for.',
    onPage: {
      text: 'There is no such artifact in your workspace, or it has no such version.',
      nextStep: 'look for it in the catalog.',
    },
  },
  'no-published-version': {
    meaning: 'The artifact exists, but none of its versions is published or deprecated.',
    remedy: 'Name a version to read a draft, or publish one.',
    onPage: LOOK_AGAIN,
  },
  'not-found': {
    meaning: 'No path of this service matches the request, or what it names does not exist.',
    remedy: 'Compare the path with the documentation; paths have no slash at their end.',
    onPage: { nextStep: 'look for it in its list, or begin at the overview.' },
  },
  'method-not-allowed': {
    meaning: 'The path exists, but not for this method.',
    remedy: 'The header Allow lists the methods that it takes.',
    onPage: {
      heading: 'This address takes nothing like this',
      text: 'Nothing was changed.',
      nextStep: 'open the page, and use what it offers.',
    },
  },
  'request-timeout': {
    meaning: 'The headers or the body took longer than ten seconds to arrive.',
    remedy: 'Send the request again over a better connection.',
    onPage: TRY_AGAIN,
  },
  'version-exists': {
    meaning: 'The artifact already has a version of this name.',
    remedy: 'Choose another version, or leave it out to get the next one.',
  },
  'version-in-use': {
    meaning: 'Its sunset lies ahead, or somebody has read the version in the last 30 days.',
    remedy:
      'Tell those whom the member readers names, and wait; or send early=true to retire it all the same.',
    onPage: LOOK_AGAIN,
  },
  'invalid-lifecycle-transition': {
    meaning: 'The version is in a state from which this step is not possible.',
    remedy: 'The member current tells its state, and allowed the steps that are possible.',
    onPage: LOOK_AGAIN,
  },
  'not-a-draft': {
    meaning: 'The content of a version is frozen once it is published.',
    remedy: 'Create a new version.',
    onPage: LOOK_AGAIN,
  },
  'idempotency-in-progress': {
    meaning: 'A request with the same Idempotency-Key is still being worked on.',
    remedy: 'Wait a moment, then send the same request again to get its answer.',
    onPage: {
      text: 'The same form is still being worked on.',
      nextStep: 'look at the list before you send it again.',
    },
  },
  'precondition-failed': {
    meaning:
      'What you want to change has changed since you read it, or If-Match names a weak ETag, which never matches.',
    remedy:
      'Read it again, apply your change to what it is now, and send its new ETag in If-Match. An ETag that begins with W/ was weakened on its way, as a rule by a proxy that compresses: send it without W/.',
    onPage: LOOK_AGAIN,
  },
  'precondition-required': {
    meaning: 'This change is only made when If-Match says what it is based on.',
    remedy: 'Read first, then send the ETag of that answer in If-Match.',
  },
  'payload-too-large': {
    meaning: 'The body is larger than this path accepts, or has too many elements.',
    remedy: 'Send less at once.',
    onPage: {
      heading: 'The form is too large',
      text: 'It holds more than is taken here. Nothing was changed.',
      nextStep: 'go back, and shorten what is in it.',
    },
  },
  'uri-too-long': {
    meaning: 'The address of the request, or one part of its path, is too long.',
    remedy: 'Shorten it; ids, cursors and labels of this service fit easily.',
    onPage: {
      heading: 'This address is too long',
      text: 'No page of the portal has an address like it.',
      nextStep: 'go to the overview, and to the page from there.',
    },
  },
  'unsupported-media-type': {
    meaning: 'The body is not of a kind that this path reads.',
    remedy:
      'Send Content-Type: application/json in UTF-8 (to a partner path also application/…+json), and no Content-Encoding.',
    onPage: {
      text: 'The portal takes forms as browsers send them.',
      nextStep: 'send the form from its page.',
    },
  },
  'spec-invalid': {
    meaning: 'The spec says that it is OpenAPI or AsyncAPI, but is not valid as such.',
    remedy: 'The list called errors names each finding. Correct the draft, then publish again.',
  },
  'breaking-change': {
    meaning:
      'Who relies on the highest published version of the same major number would be hurt, and the operator wants that to be accepted.',
    remedy:
      'The list called errors names each change. Take them back, raise the major number, or publish with breaking=accept.',
  },
  'diff-too-costly': {
    meaning:
      'The specs of the two versions take more than 5 s, or too much memory, to compare. They will again.',
    remedy: 'Read both specs, and compare them by a tool of your own.',
  },
  'idempotency-mismatch': {
    meaning: 'The Idempotency-Key was used before, with another request.',
    remedy: 'Use a new key for each different request.',
  },
  'headers-too-large': {
    meaning: 'The headers of the request are larger than 16 KiB.',
    remedy: 'Send fewer or shorter headers; cookies are not needed here.',
    onPage: {
      text: 'The browser sent more cookies than are taken.',
      nextStep: 'delete the cookies of this address, then sign in again.',
    },
  },
  'quota-exceeded': {
    meaning:
      'You made more calls in a minute, or have more work under way, than you may, or did not read what you were sent.',
    remedy:
      'Wait as long as the header Retry-After says. The header RateLimit tells how many calls are left.',
    onPage: TRY_AGAIN,
  },
  'internal-error': {
    meaning: 'Something happened that should not. It is not your fault.',
    remedy: 'Tell the operator the request id. Trying again once is harmless for reads.',
    onPage: {
      nextStep: 'try once more. If it stays so, tell whoever runs this service the request below.',
    },
  },
  'tracker-failed': {
    meaning: 'The issue tracker answered with something that cannot be understood.',
    remedy: 'Try again later. If it lasts, tell the operator the request id.',
  },
  'tracker-unavailable': {
    meaning: 'The issue tracker cannot be asked at the moment, and no earlier answer is at hand.',
    remedy: RETRY_LATER,
    onPage: TRY_AGAIN,
  },
  'identity-provider-unavailable': {
    meaning: 'The keys that tokens are checked with cannot be fetched. Your token may be good.',
    remedy: RETRY_LATER,
    onPage: TRY_AGAIN,
  },
  'store-unavailable': {
    meaning: 'The database cannot be reached or cannot write. Nothing was changed or accepted.',
    remedy: RETRY_LATER,
    onPage: TRY_AGAIN,
  },
  overloaded: {
    meaning: 'This instance has too much to do, or is stopping.',
    remedy: RETRY_LATER,
    onPage: TRY_AGAIN,
  },
};
