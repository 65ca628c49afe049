import type { Issuer } from '#sandbox/issuer/issuer.ts';
import { signIn } from '../../support/sign-in.ts';

/** Address that the issuer leads back to; nothing listens there. */
export const PORTAL_URL = 'http://127.0.0.1:4711';

/** Cookies that a browser is told to keep, as it sends them. */
const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');

/** Opens an address as a browser does; redirects are not followed. */
export const open = (address: string, cookie = ''): Promise<Response> =>
  fetch(address, { redirect: 'manual', headers: { cookie, connection: 'close' } });

/** Sends a form of the portal. */
export const post = (
  address: string,
  cookie: string,
  fields: Record<string, string>,
): Promise<Response> =>
  fetch(address, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: PORTAL_URL },
    body: new URLSearchParams(fields),
  });

/**
 * Signs in at the portal; `next` gives the address of a path, at another instance each time if it likes.
 * Answers the cookie of the session and the token of its forms.
 */
export async function signInAt(next: (path: string) => string, issuer: Issuer) {
  const started = await open(next('/portal/sign-in/start?to=/portal/audit'));
  const sent = new URL(started.headers.get('location') ?? '').searchParams;
  const { callback } = await signIn(issuer, { parameters: Object.fromEntries(sent) });
  const back = await open(next(`/portal/callback?${callback.toString()}`), cookiesOf(started));
  const cookie = cookiesOf(back).split('; ').at(-1) ?? '';
  const page = await (await open(next('/portal/audit'), cookie)).text();
  const formToken = /name="formToken" value="([^"]+)"/.exec(page)?.[1] ?? '';
  return { back, cookie, page, formToken };
}
