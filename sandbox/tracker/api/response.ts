/** A response of the tracker. The body is ready bytes, JSON unless a header says otherwise. */
export type TrackerResponse = {
  status: number;
  body?: Buffer;
  headers: Record<string, string>;
  /** Of a response that is remembered: what was made of its body already. */
  made?: Made;
};

/** The compressed body, and the digest for each credential and media type. */
type Made = { compressed?: Buffer; digests: Map<string, string> };

const DOCS = 'https://docs.github.com/rest';

export function jsonResponse(
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): TrackerResponse {
  return { status, body: Buffer.from(JSON.stringify(value)), headers };
}

export function emptyResponse(): TrackerResponse {
  return { status: 204, headers: {} };
}

/** An error response on its way up; the handler of the request turns it into bytes. */
export class Refusal extends Error {
  readonly response: TrackerResponse;

  constructor(response: TrackerResponse) {
    super(`refused with ${response.status}`);
    this.name = 'Refusal';
    this.response = response;
  }
}

/** A refusal with the tracker's basic error document. */
export function refusal(
  status: number,
  message: string,
  more: { headers?: Record<string, string>; members?: Record<string, unknown> } = {},
): Refusal {
  const document = { message, ...more.members, documentation_url: DOCS, status: String(status) };
  return new Refusal(jsonResponse(document, { status, headers: more.headers ?? {} }));
}

export type FieldError = {
  resource: string;
  field: string;
  code: string;
  value?: unknown;
  message?: string;
};

/** 422 in the tracker's form. */
export function invalid(...errors: FieldError[]): Refusal {
  return refusal(422, 'Validation Failed', { members: { errors } });
}

/** 404 says nothing about why, so that private things stay unknown. */
export function notFound(): Refusal {
  return refusal(404, 'Not Found');
}

/** 301 for reads, 307 for everything else, to an address by numeric id. */
export function movedTo(method: string, url: string): Refusal {
  const isRead = method === 'GET' || method === 'HEAD';
  const document = { message: 'Moved Permanently', url, documentation_url: DOCS };
  return new Refusal(
    jsonResponse(document, { status: isRead ? 301 : 307, headers: { location: url } }),
  );
}
