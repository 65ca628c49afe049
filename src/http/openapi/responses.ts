/** Responses in openapi.json: the codes of problems, and headers. */
import { z } from 'zod';
import type { ErrorCode } from '#shared/errors.ts';
import { errorCodes, problems } from '#shared/outcomes/problems.ts';
import { PROBLEM_MEDIA_TYPE } from '../responses/problem.ts';
import { isBodiless, keyHeaders, type RouteDescription, type SecurityScheme } from '../route.ts';
import type { ToJsonSchema } from './components.ts';

const fieldProblemOut = z
  .object({
    pointer: z.string().optional().describe('JSON Pointer into the body, as a fragment.'),
    parameter: z.string().optional().describe('Name of the path or query parameter.'),
    header: z.string().optional().describe('Name of the header.'),
    code: z.string(),
    detail: z.string(),
  })
  .meta({ id: 'FieldProblem', description: 'One wrong part of the request.' });

/** The body of every error (RFC 9457). */
const problemOut = z
  .looseObject({
    type: z.string().meta({ format: 'uri', description: 'Leads to a page of help.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    instance: z.string().meta({ format: 'uri', description: '`urn:uuid:` and the request id.' }),
    code: z.string().meta({ description: 'Stable; decide by it.', enum: [...errorCodes] }),
    errors: z.array(fieldProblemOut).optional(),
    current: z.string().optional().describe('The state that stands in the way.'),
    consumerId: z.string().optional().describe('Whose key the first call made.'),
    keyId: z.string().optional().describe('The public part of that key.'),
    allowed: z.array(z.string()).optional().describe('The steps that are possible in that state.'),
    readers: z
      .array(z.string())
      .optional()
      .describe('Ids of those who read the version in the last 30 days, the last first.'),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457).' });

/** Problems that any route can respond with. */
export const commonProblems: readonly ErrorCode[] = [
  'bad-request',
  'method-not-allowed',
  'request-timeout',
  'uri-too-long',
  'headers-too-large',
  'internal-error',
  'overloaded',
];

/** Problems of requests whose method allows a body, also where no body is wanted. */
const bodyProblems = ['malformed-json', 'payload-too-large', 'unsupported-media-type'] as const;

/** Problems of each credential, whatever the request is about. */
const credentialProblems: Readonly<Partial<Record<SecurityScheme, readonly ErrorCode[]>>> = {
  ApiKey: ['validation-failed', 'store-unavailable'],
  Bearer: [
    'validation-failed',
    'insufficient-scope',
    'identity-provider-unavailable',
    'store-unavailable',
  ],
};

/** The credentials that a route takes, one of which will do. */
export function schemesOf({ scope, security = scope && 'Bearer' }: RouteDescription) {
  return [security ?? []].flat();
}

/** The codes that a route can respond with, by status. */
function codesOf(method: string, described: RouteDescription): Map<number, ErrorCode[]> {
  const schemes = schemesOf(described);
  const all = new Set<ErrorCode>([
    ...described.problems,
    ...commonProblems,
    ...(isBodiless(method) ? [] : bodyProblems),
    ...(schemes.length > 0 ? (['unauthorized', 'quota-exceeded'] as const) : []),
    ...schemes.flatMap((scheme) => credentialProblems[scheme] ?? []),
  ]);
  return Map.groupBy(
    errorCodes.filter((code) => all.has(code)),
    (code) => problems[code].status,
  );
}

const JSON_TYPE = 'application/json';

/** The responses of a route by status. */
export function responsesOf(method: string, described: RouteDescription, toJson: ToJsonSchema) {
  const successes = Object.entries(described.ok).map(([status, success]) => {
    const { description, schema, mediaTypes = [JSON_TYPE], others = {} } = success;
    const content = schema && { schema: toJson(schema, 'output') };
    const byType = Object.fromEntries([
      ...mediaTypes.map((type) => [type, content] as const),
      ...Object.entries(others).map(
        ([type, other]) => [type, { schema: toJson(other, 'output') }] as const,
      ),
    ]);
    return [status, { description, ...(content && { content: byType }) }] as const;
  });
  const failures = [...codesOf(method, described)].map(([status, codes]) => {
    const description = codes.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' ');
    const schema = toJson(problemOut, 'output');
    const content = { [PROBLEM_MEDIA_TYPE]: { schema, examples: referencesTo(codes) } };
    return [status, { description, content }] as const;
  });
  const all = {
    ...Object.fromEntries(successes),
    ...(described.notModified === true && { 304: { description: 'Not modified.' } }),
    ...Object.fromEntries(failures),
  };
  return Object.fromEntries(
    Object.entries(all).map(([status, response]) => [
      status,
      { ...response, headers: headersOf(Number(status), described) },
    ]),
  );
}

function referencesTo(codes: readonly ErrorCode[]) {
  return Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
}

/** From here on a response is a problem, which nobody may store. */
const PROBLEM_STATUS_MIN = 400;

const byStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', 'RateLimit-Policy', 'RateLimit'],
  503: ['Retry-After'],
};

/** Headers that every response of a status has. */
export function usualHeaders(status: number): string[] {
  const isProblem = status >= PROBLEM_STATUS_MIN;
  return ['X-Request-Id', ...(isProblem ? ['Cache-Control'] : []), ...(byStatus[status] ?? [])];
}

/** Problems that come after a request was counted; a 403 comes before. */
const COUNTED = new Set([400, 404, 410, 422, 429, 502, 503]);

/** References to the headers of a response. */
function headersOf(status: number, described: RouteDescription) {
  const { headers = [], problemHeaders = {} } = described;
  const schemes = schemesOf(described);
  const isProblem = status >= PROBLEM_STATUS_MIN;
  const ofKey = !isProblem || COUNTED.has(status) ? keyHeaders : [];
  const mayWait = status === 409 && described.problems.includes('idempotency-in-progress');
  const own = Object.keys(problemHeaders).filter((name) => problemHeaders[name]?.includes(status));
  const names = [
    ...usualHeaders(status),
    ...(mayWait ? ['Retry-After'] : []),
    ...(status === 403 && schemes.includes('Bearer') ? ['WWW-Authenticate'] : []),
    ...(isProblem ? own : headers),
    ...(schemes.includes('ApiKey') ? (status === 403 ? ['Key-Expires'] : ofKey) : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
