import type { FastifyRequest } from 'fastify';

/** Why a request of the portal was refused before anything was done. */
export type PortalRefusalKind =
  /** Nobody is signed in, or the session has ended. */
  | 'no-session'
  /** The form was sent by a page of another site. */
  | 'other-origin'
  /** The form is of another session, or was made up. */
  | 'stale-form';

/** Becomes a page that says what to do; its kind is the `code` of the log line. */
export class PortalRefusal extends Error {
  readonly kind: PortalRefusalKind;

  constructor(kind: PortalRefusalKind) {
    super(kind);
    this.name = 'PortalRefusal';
    this.kind = kind;
  }
}

/**
 * Refuses forms of other sites. Browsers say where a form comes from: by `Sec-Fetch-Site`, and by
 * `Origin` with every POST. What neither says is decided by the form's token alone.
 * @throws {PortalRefusal}
 */
export function refuseOtherOrigins(
  { headers }: Pick<FastifyRequest, 'headers'>,
  publicUrl: string,
): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = origin === undefined || origin === new URL(publicUrl).origin;
  if (!isOwn || (site !== undefined && site !== 'same-origin'))
    throw new PortalRefusal('other-origin');
}
