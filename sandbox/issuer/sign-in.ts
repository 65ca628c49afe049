import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { people } from './clients.ts';

const FORM_BYTES_MAX = 1024;
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** Where the provider sends a person who has to sign in. */
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
  const { prompt, uid } = await provider.interactionDetails(request, response);
  if (prompt.name === 'consent') {
    const once = { mergeWithLastSubmission: true };
    return provider.interactionFinished(request, response, { consent: {} }, once);
  }
  const person = request.method === 'POST' ? (await readForm(request)).get('person') : null;
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
  const buttons = [...people].map(
    ([subject, { name }]) => `<p><button name="person" value="${subject}">${name}</button></p>`,
  );
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'cache-control': 'no-store',
  }).end(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sandbox sign-in</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem;width:100%;text-align:start}</style>
</head>
<body>
<main>
<h1>Who is there?</h1>
<p>The sandbox asks for no password: everything behind it is made up.</p>
<form method="post" action="${action}">
${buttons.join('\n')}
</form>
</main>
</body>
</html>
`);
}
