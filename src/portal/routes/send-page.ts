import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Exchange } from '#http/context.ts';
import type { PortalContext } from '../context.ts';
import type { Once, PortalFile, PortalPage } from '../page.ts';
import { renderPage } from '../shell/frame.ts';
import { personOf, RELOAD_PARAMETER, sessionOf } from './portal-request.ts';

/** For every route of the portal: it is in no OpenAPI document, and its input is checked here. */
export const PORTAL_ROUTE = {
  schema: { hide: true },
  config: { freeQuery: true, freeBody: true },
} as const;

/** The parameter by which a page finds what it shows once. */
export const ONCE_PARAMETER = 'once';

/** Whatever `Cache-Control` says, Chromium shows pages again on *Back*, but for those of another status than 200. */
const SECRET_STATUS = 201;

/** Sends a page in the frame of whoever is signed in. */
export function sendPage(
  context: PortalContext,
  { request, reply }: Exchange,
  page: PortalPage,
  left?: Once,
) {
  const once = page.notice === undefined ? left : { notice: page.notice, isUndone: true };
  const person = personOf(context, sessionOf(request));
  const frame = { person, currentPath: currentPathOf(request), once };
  const document = renderPage(context, frame, page);
  return sendDocument(reply, document, once?.secret ? SECRET_STATUS : page.status);
}

/** Sends a whole HTML document. */
export function sendDocument(reply: FastifyReply, document: string, status = 200) {
  return reply.code(status).headers(PORTAL_HEADERS).send(document);
}

export function sendFile(reply: FastifyReply, { fileName, mediaType, content }: PortalFile) {
  const name = fileName.replaceAll(/[^\w.-]/g, '-');
  return reply
    .headers(PORTAL_HEADERS)
    .header('content-type', mediaType)
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(content);
}

/** Without what is shown once, for whoever comes back has seen it, and without how the page was opened. */
function currentPathOf({ url }: FastifyRequest): string {
  const [path = '', query = ''] = url.split('?');
  const own = [ONCE_PARAMETER, RELOAD_PARAMETER];
  const rest = query.split('&').filter((part) => !own.some((name) => part.startsWith(`${name}=`)));
  return rest.join('&') === '' ? path : `${path}?${rest.join('&')}`;
}

/**
 * Headers of every page of the portal. Scripts, styles, pictures and forms are its own, nothing
 * is inline, and nothing is stored on the way or by the browser. The referrer stays within the portal:
 * with none at all browsers would send forms with `Origin: null`.
 */
export const PORTAL_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
});
