import { createResponseCheck } from '../../support/http/declared-responses.ts';
import { openDocument, type OpenDocument } from '../../support/http/openapi.ts';
import { askForTokens } from '../../support/sign-in.ts';
import { listening, type StartOptions, trackport } from './process.ts';

type Call = {
  /** Values of the template's parameters, in order. */
  at?: readonly string[];
  query?: string;
  headers?: Record<string, string>;
  body?: unknown;
};
export type Answer = { status: number; headers: Headers; text: string };
export type Ask = (method: string, path: string, call?: Call) => Promise<Answer>;

export const ALL_SCOPES = 'catalog:read catalog:write catalog:publish trackport:admin';

export type SandboxCalls = {
  url: string;
  /** Calls an operation; what openapi.json does not say of the answer goes to `complaints`. */
  ask: Ask;
  complaints: Set<string>;
  /** The operations that were called: `get /api/v1/leads`. */
  asked: Set<string>;
  document: OpenDocument;
  /** Output of the sandbox: addresses and credentials. */
  banner: string;
};

/** A sandbox as a process of its own, for the running test, or until whoever gets `atEnd` ends it. */
export async function openSandbox(atEnd?: StartOptions['atEnd']): Promise<SandboxCalls> {
  const run = trackport(['sandbox', '--port', '0'], atEnd && { atEnd });
  const url = await listening(run);
  const document = openDocument(await (await fetch(`${url}/openapi.json`)).json());
  const check = createResponseCheck(document);
  const complaints = new Set<string>();
  const asked = new Set<string>();
  const ask: Ask = async (method, path, { at = [], query = '', headers = {}, body } = {}) => {
    const answer = await fetch(`${url}${addressOf(path, at)}${query}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const given = { status: answer.status, headers: answer.headers, text: await answer.text() };
    for (const complaint of check({ method, path, ...given })) complaints.add(complaint);
    asked.add(`${method.toLowerCase()} ${path}`);
    return given;
  };
  return { url, ask, complaints, asked, document, banner: run.stdout() };
}

/** A template with values in the places of its parameters, `x` where there are too few. */
export function addressOf(path: string, at: readonly string[]): string {
  let left = at;
  return path.replaceAll(/\{\w+\}/g, () => {
    const [value = 'x', ...rest] = left;
    left = rest;
    return encodeURIComponent(value);
  });
}

/** The first group of a pattern in a text, `''` without one. */
export function read(text: string, pattern: RegExp): string {
  return pattern.exec(text)?.[1] ?? '';
}

/** An access token of the sandbox's issuer. */
export async function tokenOf(banner: string, scope: string): Promise<string> {
  const tokenEndpoint = read(banner, /(http:\S+\/token)/);
  const form = { grant_type: 'client_credentials', scope };
  const { body } = await askForTokens({ tokenEndpoint }, form, read(banner, /-u '([^']+)'/));
  return body.access_token;
}
