import { parseCookie, stringifySetCookie } from 'cookie';

const SESSION = 'trackport-session';
const DIGITS = /^[A-Za-z0-9_-]{43}$/;

/** The cookies of a portal at one address. */
export type PortalCookies = {
  /** The value of a cookie by its bare name. */
  read(header: string | undefined, name: string): string | undefined;
  /** The bare names of cookies that begin with `prefix`. */
  names(header: string | undefined, prefix: string): string[];
  /** The `Set-Cookie` of a cookie that no script and no other site's form gets at. */
  set(name: string, value: string, maxAgeSeconds?: number): string;
  clear(name: string): string;
};

/**
 * `__Host-` binds cookies to this host and to https (RFC 6265bis §4.1.3.2). Plain http, which only
 * loopback should use, cannot have it. `SameSite=Lax`: they come along when the issuer leads back.
 */
export function createPortalCookies(publicUrl: () => string): PortalCookies {
  const isSecure = (): boolean => publicUrl().startsWith('https:');
  const fullName = (name: string): string => (isSecure() ? `__Host-${name}` : name);
  const set = (name: string, value: string, maxAge?: number): string =>
    stringifySetCookie({
      name: fullName(name),
      value,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: isSecure(),
      maxAge,
    });
  return {
    read: (header = '', name) => parseCookie(header)[fullName(name)],
    names: (header = '', prefix) => {
      const start = fullName(prefix);
      const bare = start.length - prefix.length;
      return Object.keys(parseCookie(header))
        .filter((name) => name.startsWith(start))
        .map((name) => name.slice(bare));
    },
    set,
    clear: (name) => set(name, '', 0),
  };
}

/** The session id that a request brings, if it looks like one. */
export function readSessionId(
  cookies: PortalCookies,
  header: string | undefined,
): string | undefined {
  const value = cookies.read(header, SESSION);
  return value !== undefined && DIGITS.test(value) ? value : undefined;
}

/** It goes with the browser's window; how long it counts is for the store to say. */
export function setSessionId(cookies: PortalCookies, id: string): string {
  return cookies.set(SESSION, id);
}

export function clearSessionId(cookies: PortalCookies): string {
  return cookies.clear(SESSION);
}
