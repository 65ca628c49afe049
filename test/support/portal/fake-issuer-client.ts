import type { IssuedTokens, IssuerClient, SignInFailure } from '#access/sessions/issuer-client.ts';

/** An issuer that does what a test says; its tokens are names. */
export type FakeIssuerClient = IssuerClient & {
  /** What the next code or refresh token is exchanged for; a failure is thrown. */
  next: IssuedTokens | SignInFailure;
  /** How often it was called for a renewal. */
  renewals: string[];
};

const ISSUED: IssuedTokens = {
  accessToken: 'admin',
  idToken: 'id-token-1',
  identity: { subject: 'operator-1', session: 'sid-1', name: 'Olga' },
};

export function createFakeIssuerClient(): FakeIssuerClient {
  let attempts = 0;
  const issue = (): IssuedTokens => {
    if (fake.next instanceof Error) throw fake.next;
    return fake.next;
  };
  const fake: FakeIssuerClient = {
    next: ISSUED,
    renewals: [],
    newAttempt: () => {
      attempts += 1;
      const state = `state-${attempts}-of-this-issuer`;
      return { state, nonce: `nonce-${attempts}`, verifier: `verifier-${attempts}` };
    },
    begin: async ({ state }) => {
      if (fake.next instanceof Error) throw fake.next;
      return `https://id.example.com/auth?state=${state}`;
    },
    complete: async () => issue(),
    renew: async (refreshToken) => {
      fake.renewals.push(refreshToken);
      return issue();
    },
    signOutUrl: async (idToken) => `https://id.example.com/end?id_token_hint=${idToken ?? ''}`,
  };
  return fake;
}
