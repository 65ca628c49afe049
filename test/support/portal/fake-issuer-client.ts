import type { IssuedTokens, IssuerClient, SignInFailure } from '#access/sessions/issuer-client.ts';

/** An issuer that does what a test says; its tokens are names. */
export type FakeIssuerClient = IssuerClient & {
  /** Result of the exchange of the next code; a failure is thrown. */
  next: IssuedTokens | SignInFailure;
  /** Why it cannot be reached, if so. */
  away: SignInFailure | undefined;
  /** Number of times that a browser was to be led there unasked. */
  confirmations: number;
};

const ISSUED: IssuedTokens = { accessToken: 'admin', idToken: 'id-token-1', name: 'Olga' };

export function createFakeIssuerClient(): FakeIssuerClient {
  let attempts = 0;
  const fake: FakeIssuerClient = {
    next: ISSUED,
    away: undefined,
    confirmations: 0,
    newAttempt: () => {
      attempts += 1;
      const state = `state-${attempts}-of-this-issuer`;
      return { state, nonce: `nonce-${attempts}`, verifier: `verifier-${attempts}` };
    },
    begin: async ({ state }, { isSilent = false } = {}) => {
      if (isSilent) fake.confirmations += 1;
      if (fake.away) throw fake.away;
      return `https://id.example.com/auth?state=${state}${isSilent ? '&prompt=none' : ''}`;
    },
    complete: async () => {
      if (fake.next instanceof Error) throw fake.next;
      return fake.next;
    },
    signOutUrl: async (idToken) => `https://id.example.com/end?id_token_hint=${idToken ?? ''}`,
  };
  return fake;
}
