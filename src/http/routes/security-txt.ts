import { DAY, type Clock } from '#shared/clock.ts';
import type { AreaContext, HttpApp } from '../context.ts';

const PATH = '/.well-known/security.txt';
/** Time for which a copy may be believed; whoever asks anew gets a later date. */
const GOOD_FOR_MS = 180 * DAY;

/** Whom to tell of a vulnerability, where `server.securityContact` says so. @see RFC 9116 */
export function securityTxtRoutes(app: HttpApp, context: AreaContext): void {
  const { securityContact } = context;
  if (securityContact === undefined) return;
  app.get(PATH, { schema: { hide: true } }, async (_request, reply) =>
    reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, no-cache' })
      .send(textOf(securityContact, context.publicUrl(), context.clock)),
  );
}

function textOf(contact: string, publicUrl: string, clock: Pick<Clock, 'now'>): string {
  const fields = [
    ['Contact', contact.includes(':') ? contact : `mailto:${contact}`],
    ['Expires', new Date(clock.now() + GOOD_FOR_MS).toISOString()],
    ['Preferred-Languages', 'en'],
    // An address of the web must be of https here (sections 2.5.2 and 2.5.7).
    ...(publicUrl.startsWith('https:')
      ? [
          ['Canonical', publicUrl + PATH],
          ['Policy', `${publicUrl}/docs/SECURITY.md`],
        ]
      : []),
  ];
  return fields.map(([name, value]) => `${name}: ${value}\n`).join('');
}
