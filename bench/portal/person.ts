/** A person's browser as far as the bench needs one: cookies, redirects, and the time to the first byte. */
import { Agent, get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { buffer } from 'node:stream/consumers';

const STEPS_MAX = 20;

/** Signs the sandbox's owner in; returns the cookies of the portal as a header. */
export async function signIn(portalUrl: string): Promise<string> {
  const jars = new Map<string, Map<string, string>>();
  const browse = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: headerOf(jar) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return response;
  };
  let url = `${portalUrl}/portal/sign-in/start`;
  let response = await browse(url);
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const location = response.headers.get('location');
    const next =
      location ?? /<form method="post" action="([^"]+)"/.exec(await response.text())?.[1];
    if (next === undefined) throw new Error(`no way on from ${url}: ${response.status}`);
    if (location === '/portal') return headerOf(jars.get(new URL(portalUrl).origin) ?? new Map());
    url = new URL(next, url).href;
    response = await browse(url, location === null ? { person: 'owner' } : undefined);
  }
  throw new Error('the sign-in goes in circles');
}

function headerOf(jar: ReadonlyMap<string, string>): string {
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
}

const agent = new Agent({ keepAlive: true });

export type Fetched = {
  status: number;
  /** As it came, compressed where the server did so. */
  body: Buffer;
  /** Milliseconds from the request to the first byte of its response. */
  firstByteMs: number;
};

/** One request on a connection that stays open. */
export function fetchTimed(url: string, cookie = ''): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const headers = { cookie, 'accept-encoding': 'gzip', accept: 'text/html' };
    get(url, { agent, headers }, (response) => {
      const firstByteMs = performance.now() - startedAt;
      const { statusCode: status = 0 } = response;
      buffer(response).then((body) => resolve({ status, body, firstByteMs }), reject);
    }).on('error', reject);
  });
}
