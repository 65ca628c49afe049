import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { PAGE_POLICY, renderSignIn } from './pages.ts';
import { people } from './people.ts';

const FORM_BYTES_MAX = 1024;

/** Path to which the provider sends a person who has to sign in. */
export const interactionPath = (uid: string): string => `/interaction/${uid}`;

export function isInteraction(path: string): boolean {
  return /^\/interaction\/[\w-]+$/.test(path);
}

/** Asks who is there, without a password: the sandbox has nothing to protect. */
export async function respondToInteraction(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uid } = await provider.interactionDetails(request, response);
  const person = request.method === 'POST' ? (await readForm(request)).get('person') : null;
  if (person === 'nobody')
    return provider.interactionFinished(request, response, { error: 'access_denied' });
  if (person === null || !people.has(person)) return showPeople(response, interactionPath(uid));
  return provider.interactionFinished(request, response, { login: { accountId: person } });
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > FORM_BYTES_MAX) throw new Error('the form is too large');
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

function showPeople(response: ServerResponse, action: string): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': PAGE_POLICY,
    'cache-control': 'no-store',
  };
  response.writeHead(200, headers).end(renderSignIn(action));
}
