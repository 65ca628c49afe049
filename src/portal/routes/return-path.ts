const PATH_CHARACTERS_MAX = 2000;
const OWN_PATH = /^\/portal(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/;

/** Browsers resolve dot segments, encoded ones as well, and read `//` as a host. */
const LEADS_AWAY = /\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * A path of the portal to come back to, out of what anybody can put into an address; else its first
 * page. The parts of sign-in lead nowhere, and a path with `\` or `//` could leave this service.
 */
export function ownPath(given: unknown): string {
  if (typeof given !== 'string' || given.length > PATH_CHARACTERS_MAX) return '/portal';
  const [path = ''] = given.split('?');
  const isOwn = OWN_PATH.test(given) && !LEADS_AWAY.test(path);
  const isSignIn = /^\/portal\/(?:sign-in|sign-out|signed-out|callback)/.test(path);
  return isOwn && !isSignIn ? given : '/portal';
}

/** Where one signs in, to come back to `path`. */
export function signInPath(path: string): string {
  return path === '/portal' ? '/portal/sign-in' : `/portal/sign-in?to=${encodeURIComponent(path)}`;
}

/** `path` with one more parameter, before a fragment if it has one. */
export function withParameter(path: string, name: string, value: string): string {
  const [before = '', ...fragment] = path.split('#');
  const mark = before.includes('?') ? '&' : '?';
  const rest = fragment.length > 0 ? `#${fragment.join('#')}` : '';
  return `${before}${mark}${name}=${encodeURIComponent(value)}${rest}`;
}
