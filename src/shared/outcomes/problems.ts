import { codesOf, type OutcomeEntry } from './entry.ts';

type Problem = Omit<OutcomeEntry, 'urgency'> & {
  status: number;
  /**
   * On a page of the portal, for a person at a browser. Left-out parts are said by the error itself, else by the
   * code's title, meaning and next step.
   */
  onPage?: { heading?: string; text?: string; nextStep?: string };
};

const RETRY_LATER =
  'Wait as long as the header Retry-After says, then send the same request again.';

const TRY_AGAIN = { nextStep: 'wait a few seconds, then try again.' };
const LOOK_AGAIN = { nextStep: 'go back, and look at the state it has now.' };

const table = <Code extends string>(entries: Readonly<Record<Code, Problem>>) => entries;

/** Every operational failure: the one place where a code becomes a status. Titles are stable (RFC 9457 section 3.1.3). */
export const problems = table({
  'validation-failed': {
    status: 400,
    title: 'The request is not valid',
    meaning: 'A parameter, a header or a field of the body is wrong, missing, repeated or unknown.',
    next: 'Look at the list called errors: each entry names one wrong part and what is expected there. Correct all of them; sending the same again gives the same answer.',
    onPage: { nextStep: 'open the page anew, and choose there.' },
  },
  'malformed-json': {
    status: 400,
    title: 'The body is not acceptable JSON',
    meaning:
      'The body is not one JSON text in UTF-8, nests deeper than 64 levels, has a name twice in one object, or has a key that is not allowed.',
    next: 'Send one JSON text as the whole body.',
  },
  'invalid-cursor': {
    status: 400,
    title: 'The cursor cannot be used',
    meaning:
      'The cursor was altered or cut short, comes from another version, or was used with other filters or by another consumer than it was made for. The list called errors names each filter that differs.',
    next: 'A cursor repeats the filters of its list: leave them out beside it, or keep them as they are; only limit may change. To read another list, start without a cursor. In the lead feed that would begin now: empty your copy there, and begin again with from=start.',
    onPage: {
      heading: 'This part of the list cannot be shown',
      text: 'Its address was cut short or changed, or comes from another version of this service.',
      nextStep: 'open the list from its start, and filter it there.',
    },
  },
  'bad-request': {
    status: 400,
    title: 'The request is not well-formed HTTP',
    meaning: 'The request is not well-formed HTTP/1.1.',
    next: 'Check the client library and what stands between it and this service.',
  },
  unauthorized: {
    status: 401,
    title: 'No valid credential',
    meaning:
      'The request has no credential, or one that is not valid: unknown, mistyped, expired or revoked. Which of these is not told.',
    next: 'The header WWW-Authenticate names the kind of credential that is wanted. Check the one that you send; if it is right, ask the operator for a new one.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'The credential does not allow this',
    meaning: 'The credential is good, but does not carry the grant or scope that this call needs.',
    next: 'Ask the operator for the grant or scope, or use another credential.',
  },
  'lead-not-found': {
    status: 404,
    title: 'No such lead',
    meaning: 'There is no lead with this id that this key may see.',
    next: 'Nothing, when the lead was withdrawn or deleted. Otherwise take the id from the list of leads.',
  },
  'artifact-not-found': {
    status: 404,
    title: 'No such artifact',
    meaning:
      'There is no such artifact in your workspace, or it has no such version; the detail says which.',
    next: 'Check the id and the version, and which workspace your token is for.',
    onPage: {
      text: 'There is no such artifact in your workspace, or it has no such version.',
      nextStep: 'look for it in the catalog.',
    },
  },
  'no-published-version': {
    status: 404,
    title: 'The artifact has no published version',
    meaning: 'The artifact exists, but none of its versions is published or deprecated.',
    next: 'Name a version to read a draft, or publish one.',
    onPage: LOOK_AGAIN,
  },
  'not-found': {
    status: 404,
    title: 'Nothing is here',
    meaning: 'No path of this service matches the request, or what it names does not exist.',
    next: 'Compare the path with the documentation; paths have no slash at their end.',
    onPage: { nextStep: 'look for it in its list, or begin at the overview.' },
  },
  'method-not-allowed': {
    status: 405,
    title: 'The path does not know this method',
    meaning: 'The path exists, but not for this method.',
    next: 'The header Allow lists the methods that it takes.',
    onPage: {
      heading: 'This address takes nothing like this',
      text: 'Nothing was changed.',
      nextStep: 'open the page, and use what it offers.',
    },
  },
  'request-timeout': {
    status: 408,
    title: 'The request came too slowly',
    meaning: 'The headers or the body took longer than ten seconds to arrive.',
    next: 'Send the request again over a better connection.',
    onPage: TRY_AGAIN,
  },
  'cursor-expired': {
    status: 410,
    title: 'The cursor is not good any more',
    meaning:
      'The cursor of the lead feed is older than 30 days, or what this key may read has changed since it was made: from there on the feed would not tell the truth about your copy.',
    next: 'Empty your copy, and begin again with from=start and without a cursor.',
  },
  'version-exists': {
    status: 409,
    title: 'The version exists already',
    meaning: 'The artifact already has a version of this name.',
    next: 'Choose another version, or leave it out to get the next one.',
  },
  'version-in-use': {
    status: 409,
    title: 'Readers rely on the version',
    meaning: 'Its sunset lies ahead, or somebody has read the version in the last 30 days.',
    next: 'Tell those whom the member readers names, and wait; or send early=true to retire it all the same.',
    onPage: LOOK_AGAIN,
  },
  'invalid-lifecycle-transition': {
    status: 409,
    title: 'The lifecycle does not allow this step',
    meaning: 'The version is in a state from which this step is not possible.',
    next: 'The member current tells its state, and allowed the steps that are possible.',
    onPage: LOOK_AGAIN,
  },
  'not-a-draft': {
    status: 409,
    title: 'Only a draft can be changed',
    meaning: 'The content of a version is frozen once it is published.',
    next: 'Create a new version.',
    onPage: LOOK_AGAIN,
  },
  'idempotency-in-progress': {
    status: 409,
    title: 'The same request is still being worked on',
    meaning: 'A request with the same Idempotency-Key is still being worked on.',
    next: 'Wait a moment, then send the same request again to get its answer.',
    onPage: {
      text: 'The same form is still being worked on.',
      nextStep: 'look at the list before you send it again.',
    },
  },
  'precondition-failed': {
    status: 412,
    title: 'It has changed in the meantime',
    meaning:
      'What you want to change has changed since you read it, or If-Match names a weak ETag, which never matches.',
    next: 'Read it again, apply your change to what it is now, and send its new ETag in If-Match. An ETag that begins with W/ was weakened on its way, as a rule by a proxy that compresses: send it without W/.',
    onPage: LOOK_AGAIN,
  },
  'precondition-required': {
    status: 428,
    title: 'The request must be conditional',
    meaning: 'This change is only made when If-Match says what it is based on.',
    next: 'Read first, then send the ETag of that answer in If-Match.',
  },
  'payload-too-large': {
    status: 413,
    title: 'The body is too large',
    meaning: 'The body is larger than this path accepts, or has too many elements.',
    next: 'Send less at once.',
    onPage: {
      heading: 'The form is too large',
      text: 'It holds more than is taken here. Nothing was changed.',
      nextStep: 'open the form again, and put less into it.',
    },
  },
  'uri-too-long': {
    status: 414,
    title: 'The address is too long',
    meaning: 'The address of the request, or one part of its path, is too long.',
    next: 'Shorten it; ids, cursors and labels of this service fit easily.',
    onPage: {
      heading: 'This address is too long',
      text: 'No page of the portal has an address like it.',
      nextStep: 'go to the overview, and to the page from there.',
    },
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The media type is not supported',
    meaning: 'The body is not of a kind that this path reads.',
    next: 'Send Content-Type: application/json in UTF-8 (to a partner path also application/…+json), and no Content-Encoding.',
    onPage: {
      text: 'The portal takes forms as browsers send them.',
      nextStep: 'send the form from its page.',
    },
  },
  'spec-invalid': {
    status: 422,
    title: 'The spec is not valid',
    meaning: 'The spec says that it is OpenAPI or AsyncAPI, but is not valid as such.',
    next: 'The list called errors names each finding. Correct the draft, then publish again.',
  },
  'breaking-change': {
    status: 422,
    title: 'The version breaks an earlier one',
    meaning:
      'Who relies on the highest published version of the same major number would be hurt, and the operator wants that to be accepted.',
    next: 'The list called errors names each change. Take them back, raise the major number, or publish with breaking=accept.',
  },
  'diff-too-costly': {
    status: 422,
    title: 'The two versions are too costly to compare',
    meaning:
      'The specs of the two versions take more than 5 s, or too much memory, to compare. They will again.',
    next: 'Read both specs, and compare them by a tool of your own.',
  },
  'idempotency-mismatch': {
    status: 422,
    title: 'The idempotency key belongs to another request',
    meaning: 'The Idempotency-Key was used before, with another request.',
    next: 'Use a new key for each different request.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    meaning: 'The headers of the request are larger than 16 KiB.',
    next: 'Send fewer or shorter headers; cookies are not needed here.',
    onPage: {
      text: 'The browser sent more cookies than are taken.',
      nextStep: 'delete the cookies of this address, then sign in again.',
    },
  },
  'quota-exceeded': {
    status: 429,
    title: 'Too many requests',
    meaning:
      'You made more calls in a minute, or have more work under way, than you may, or did not read what you were sent.',
    next: 'Wait as long as the header Retry-After says. The header RateLimit tells how many calls are left.',
    onPage: TRY_AGAIN,
  },
  'internal-error': {
    status: 500,
    title: 'Trackport made a mistake',
    meaning: 'Something happened that should not. It is not your fault.',
    next: 'Tell the operator the request id. Trying again once is harmless for reads.',
    onPage: {
      nextStep: 'try once more. If it stays so, tell whoever runs this service the request below.',
    },
  },
  'tracker-failed': {
    status: 502,
    title: 'The issue tracker gave an unusable answer',
    meaning: 'The issue tracker answered with something that cannot be understood.',
    next: 'Try again later. If it lasts, tell the operator the request id.',
  },
  'tracker-unavailable': {
    status: 503,
    title: 'The issue tracker is not available',
    meaning: 'The issue tracker cannot be asked at the moment, and no earlier answer is at hand.',
    next: RETRY_LATER,
    onPage: TRY_AGAIN,
  },
  'identity-provider-unavailable': {
    status: 503,
    title: 'The identity provider is not available',
    meaning: 'The keys that tokens are checked with cannot be fetched. Your token may be good.',
    next: RETRY_LATER,
    onPage: TRY_AGAIN,
  },
  'store-unavailable': {
    status: 503,
    title: 'The store is not available',
    meaning: 'The database cannot be reached or cannot write. Nothing was changed or accepted.',
    next: RETRY_LATER,
    onPage: TRY_AGAIN,
  },
  overloaded: {
    status: 503,
    title: 'Too busy, or stopping',
    meaning: 'This instance has too much to do, or is stopping.',
    next: RETRY_LATER,
    onPage: TRY_AGAIN,
  },
});

export const errorCodes = codesOf(problems);
