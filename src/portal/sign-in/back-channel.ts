import type { FastifyReply, FastifyRequest } from 'fastify';

import type { SignIn } from '#access/sessions/sign-in.ts';
import type { RefusalLimiter } from '#http/auth/refusal-limiter.ts';
import type { HttpApp } from '#http/http-app.ts';
import { isTrackportError } from '#shared/errors.ts';

import { fieldOnce } from '../routes/forms/form-body.ts';
import { PORTAL_ROUTE } from '../routes/portal-routes.ts';

export type BackChannelDeps = { signIn: Pick<SignIn, 'endByIssuer'>; refusals: RefusalLimiter };

const BODY_BYTES_MAX = 16 * 1024;

/**
 * Where the issuer says that sessions are over (OpenID Connect Back-Channel Logout 1.0 §2.5 to §2.8). It
 * calls with a signed token and no cookies, so that nothing of a browser is looked at. The specification
 * says what a refusal is, too: 400 with the JSON of an OAuth error (RFC 6749 §5.2), in place of a problem
 * document, with only the `error` that it names; why a token was refused is nobody else's business.
 */
export function addBackChannelLogout(app: HttpApp, { signIn, refusals }: BackChannelDeps): void {
  const route = { ...PORTAL_ROUTE, bodyLimit: BODY_BYTES_MAX };
  app.post('/portal/back-channel-logout', route, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    try {
      const count = await signIn.endByIssuer(fieldOnce(request, 'logout_token') ?? '');
      request.logFacts = { ...request.logFacts, count };
      return reply.code(200).send();
    } catch (error) {
      if (!isTrackportError(error, 'unauthorized')) throw error;
      return refuse(refusals, { request, reply }, error);
    }
  });
}

/** @throws {quota-exceeded} for one who tries again and again */
function refuse(
  refusals: RefusalLimiter,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  refusal: Error,
) {
  try {
    refusals.rethrow(request.ip, refusal);
  } catch (error) {
    if (error !== refusal) throw error;
  }
  request.logFacts = { ...request.logFacts, code: 'invalid-logout-token' };
  return reply.code(400).send({ error: 'invalid_request' });
}
