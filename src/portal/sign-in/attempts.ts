/**
 * Sign-ins that are under way. What the callback needs to know is with the browser that began it, sealed
 * and for ten minutes: no instance remembers anything, each tab has its own, and a callback that was
 * meant for another browser finds nothing.
 */
import { z } from 'zod';
import type { SignInAttempt } from '#access/sessions/issuer-client.ts';
import type { Exchange } from '#http/context.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { PortalContext } from '../context.ts';
import { ownPath } from '../paths.ts';
import { PORTAL_HEADERS } from '../routes/send-page.ts';

const PREFIX = 'trackport-sign-in-';
const ATTEMPT_MS = 10 * MINUTE;
/** Tabs in which somebody signs in at the same time; what is older is given up. */
const ATTEMPTS_MAX = 5;
const NAME_CHARACTERS = 12;

const sealedAttempt = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  isSilent: z.literal(true).optional(),
  startedAt: z.number(),
});

/** An attempt, and where the person wants to be afterwards. */
type OpenAttempt = SignInAttempt & {
  returnTo: string;
  /** The person asked for a page, not for a sign-in. */
  isSilent?: true;
};

/** Begins one in this browser. */
export function putAttempt(
  { cookies, sealer, clock }: PortalContext,
  { request, reply }: Exchange,
  attempt: OpenAttempt,
): void {
  const known = cookies.names(request.headers.cookie, PREFIX);
  for (const name of known.slice(0, Math.max(0, known.length - ATTEMPTS_MAX + 1)))
    reply.header('set-cookie', cookies.clear(name));
  const text = JSON.stringify({ ...attempt, startedAt: clock.now() });
  const sealed = sealer.seal(identityOf(attempt.state), Buffer.from(text));
  const value = sealed.toString('base64url');
  reply.header('set-cookie', cookies.set(nameOf(attempt.state), value, ATTEMPT_MS / SECOND));
}

/** The attempt of this state, which is over then; undefined when this browser has none. */
export function takeAttempt(
  { cookies, sealer, clock }: PortalContext,
  { request, reply }: Exchange,
  state: unknown,
): OpenAttempt | undefined {
  if (typeof state !== 'string') return undefined;
  const name = nameOf(state);
  const value = cookies.read(request.headers.cookie, name);
  if (value === undefined) return undefined;
  reply.header('set-cookie', cookies.clear(name));
  const attempt = open(sealer, state, value);
  return attempt && clock.now() - attempt.startedAt < ATTEMPT_MS ? attempt : undefined;
}

/** An attempt that was altered, or sealed by another key, is none. */
function open(sealer: Sealer, state: string, value: string) {
  try {
    const text = sealer.open(identityOf(state), Buffer.from(value, 'base64url')).toString();
    return sealedAttempt.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function nameOf(state: string): string {
  return `${PREFIX}${state.slice(0, NAME_CHARACTERS).replaceAll(/[^\w-]/g, '_')}`;
}

function identityOf(state: string): string {
  return `sign-in/${state}`;
}

/**
 * Leads to the issuer and back where it is time to ask it again who is signed in; undefined where it is not, or the
 * issuer is out of reach.
 */
export async function confirmAtIssuer(context: PortalContext, exchange: Exchange) {
  const attempt = context.signIn.newAttempt();
  const location = await context.signIn.beginSilently(attempt);
  if (location === undefined) return undefined;
  const returnTo = ownPath(exchange.request.url);
  putAttempt(context, exchange, { ...attempt, returnTo, isSilent: true });
  return leadTo(exchange, location);
}

export function leadTo({ reply }: Exchange, location: string) {
  return reply.headers(PORTAL_HEADERS).redirect(location, 303);
}
