import { parseCookie, stringifySetCookie } from 'cookie';

const SESSION = 'trackport-session';
const DIGITS = /^[A-Za-z0-9_-]{43}$/;

export type PortalCookies = ReturnType<typeof createPortalCookies>;

/**
 * `__Host-` binds cookies to this host and to https (RFC 6265bis §4.1.3.2). Plain http, which only
 * loopback should use, cannot have it. `SameSite=Lax`: they come along when the issuer leads back.
 */
export function createPortalCookies(publicUrl: () => string) {
  const isSecure = (): boolean => publicUrl().startsWith('https:');
  const fullName = (name: string): string => (isSecure() ? `__Host-${name}` : name);
  /** The value of a cookie by its bare name. */
  const read = (header = '', name: string): string | undefined =>
    parseCookie(header)[fullName(name)];
  /** The `Set-Cookie` of a cookie that no script and no other site's form gets at. */
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
  const clear = (name: string): string => set(name, '', 0);
  return {
    read,
    set,
    clear,
    /** The bare names of cookies that begin with `prefix`. */
    names: (header = '', prefix: string): string[] => {
      const start = fullName(prefix);
      const names = Object.keys(parseCookie(header)).filter((name) => name.startsWith(start));
      return names.map((name) => name.slice(start.length - prefix.length));
    },
    /** The id of a session. */
    session: {
      /** If what is brought looks like one. */
      read: (header?: string): string | undefined => {
        const value = read(header, SESSION);
        return value !== undefined && DIGITS.test(value) ? value : undefined;
      },
      /** It goes with the browser's window; how long it counts is for the store to say. */
      set: (id: string): string => set(SESSION, id),
      clear: (): string => clear(SESSION),
    },
  };
}
