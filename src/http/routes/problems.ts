import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, TrackportError } from '#shared/errors.ts';
import { errorCodes, problems } from '#shared/outcomes/problems.ts';
import type { AreaContext, HttpApp } from '../context.ts';
import { type PlainPage, sendPlainPage } from '../responses/plain-page.ts';

/**
 * The pages that problem types lead to, `/problems/{code}`, and the list of all, `/problems`: as HTML,
 * or as JSON for who names JSON in `Accept`.
 */
export function problemRoutes(app: HttpApp, { publicUrl }: AreaContext): void {
  const hidden = { schema: { hide: true } } as const;
  app.get('/problems', hidden, async (request, reply) => {
    if (!wantsJson(request, reply)) return sendPlainPage(reply, LIST_PAGE);
    return reply.send({ items: errorCodes.map((code) => documentOf(publicUrl(), code)) });
  });
  app.get<{ Params: { code: string } }>('/problems/:code', hidden, async (request, reply) => {
    if (request.params.code === '') return reply.redirect('../problems', 308);
    const code = errorCodes.find((known) => known === request.params.code);
    if (!code) throw new TrackportError('not-found', { detail: 'There is no such problem.' });
    if (!wantsJson(request, reply)) return sendPlainPage(reply, pageOf(code));
    return reply.send(documentOf(publicUrl(), code));
  });
}

function wantsJson({ headers }: FastifyRequest, reply: FastifyReply): boolean {
  reply.header('cache-control', 'public, max-age=3600').header('vary', 'Accept');
  return /\bjson\b/i.test(headers.accept ?? '');
}

function documentOf(publicUrl: string, code: ErrorCode) {
  const { status, title, meaning, next } = problems[code];
  return { type: `${publicUrl}/problems/${code}`, code, status, title, meaning, remedy: next };
}

/** Every part is a constant of ours and free of markup. */
function pageOf(code: ErrorCode): PlainPage {
  const { status, title, meaning, next } = problems[code];
  return {
    title: `${title} (${code})`,
    main: `<h1>${title}</h1>
<p><code>${code}</code> status ${status}</p>
<h2>What it means</h2>
<p>${meaning}</p>
<h2>What to do</h2>
<p>${next}</p>`,
    footer:
      '<a href="../problems">All problems</a> · <a href="../docs">The API of this service</a>',
  };
}

const LIST_PAGE: PlainPage = {
  title: 'Problems of Trackport',
  main: `<h1>Problems</h1>
<p>Every error is a document of <code>application/problem+json</code> (RFC 9457). Its <code>code</code> is one of
these; go by it, not by the text.</p>
<dl>
${errorCodes.map(entryOf).join('\n')}
</dl>`,
  footer: '<a href="./">Trackport</a> · <a href="docs">The API of this service</a>',
};

function entryOf(code: ErrorCode): string {
  const { status, meaning, next } = problems[code];
  return `<dt><a href="problems/${code}"><code>${code}</code></a> status ${status}</dt>
<dd><p>${meaning}</p>
<p><strong>What to do:</strong> ${next}</p></dd>`;
}
