import type { ImportServer, TokenSource } from '#catalog/import/import-target.ts';
import { type Clock, SECOND } from '#shared/clock.ts';

/** A token that is used up while a request is under way is renewed after its 401. */
const RENEW_BEFORE_END_MS = 30 * SECOND;

/** Tokens for an import: the one that was given, or those of a client. */
export async function createTokens(
  credential: ImportServer['credential'],
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<TokenSource> {
  if (credential.kind === 'token') return { token: async () => credential.token.reveal() };
  const { createMachineTokens } = await import('./client-credentials.ts');
  const request = createMachineTokens(credential);
  let current: { token: string; goodUntil: number } | undefined;
  return {
    token: async () => {
      if (!current || clock.monotonicMs() >= current.goodUntil) {
        const { token, lifetimeMs = Infinity } = await request();
        const spareMs = Math.min(RENEW_BEFORE_END_MS, lifetimeMs / 2);
        current = { token, goodUntil: clock.monotonicMs() + lifetimeMs - spareMs };
      }
      return current.token;
    },
    renew: () => {
      current = undefined;
    },
  };
}
