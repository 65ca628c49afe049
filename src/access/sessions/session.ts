import { z } from 'zod';

import { HOUR, MINUTE } from '#shared/clock.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { TokenPrincipal } from '../tokens.ts';
import type { SessionRow } from './session-store.ts';

/** A session ends when it was not used for so long. */
export const SESSION_IDLE_MS = 30 * MINUTE;
/** And after this time in any case. */
export const SESSION_MS = 12 * HOUR;

/** What the issuer gave with a sign-in, or with a renewal. Tokens are bearer secrets: never logged. */
export type SignedIn = {
  /** What the access token says; the same rules as for any caller of the API. */
  principal: TokenPrincipal;
  /** What the page shows: a name, else the subject. */
  name: string;
  /** When the access token runs out, in milliseconds since the Unix epoch. */
  tokenEndsAt?: number;
  refreshToken?: string;
  /** What sign-out at the issuer is asked with. */
  idToken?: string;
};

/** A session that is neither over nor unused for too long. */
export type Session = Omit<SessionRow, 'sealed'> & SignedIn;

const sealedSession = z.object({
  principal: z.object({
    subject: z.string(),
    clientId: z.string().optional(),
    scopes: z.array(z.string()),
    workspaceId: z.string(),
  }),
  name: z.string(),
  tokenEndsAt: z.number().optional(),
  refreshToken: z.string().optional(),
  idToken: z.string().optional(),
});

/** What is encrypted of a session, and when it wants a new access token. */
export function sealSession(
  sealer: Sealer,
  digest: Buffer,
  signedIn: SignedIn,
): Pick<SessionRow, 'sealed' | 'renewAt'> {
  const { principal, name, tokenEndsAt, refreshToken, idToken } = signedIn;
  const bytes = Buffer.from(
    JSON.stringify({ principal, name, tokenEndsAt, refreshToken, idToken }),
  );
  const renewAt = refreshToken === undefined ? undefined : tokenEndsAt;
  return { sealed: sealer.seal(identityOf(digest), bytes), renewAt };
}

/** Undefined for what another `secretKey` sealed: such a session is as good as over. */
export function openSession(sealer: Sealer, row: SessionRow): Session | undefined {
  const { sealed, ...rest } = row;
  try {
    const text = sealer.open(identityOf(row.digest), sealed).toString();
    return { ...rest, ...(sealedSession.parse(JSON.parse(text)) as SignedIn) };
  } catch {
    return undefined;
  }
}

/** When it ends unless it is used once more. */
export function endOf({ usedAt, endsAt }: Pick<SessionRow, 'usedAt' | 'endsAt'>): number {
  return Math.min(usedAt + SESSION_IDLE_MS, endsAt);
}

/** Whether it is over at `now`, or was not used for too long. */
export function isOver(session: Pick<SessionRow, 'usedAt' | 'endsAt'>, now: number) {
  return now >= endOf(session);
}

function identityOf(digest: Buffer): string {
  return `session/${digest.toString('hex')}`;
}
