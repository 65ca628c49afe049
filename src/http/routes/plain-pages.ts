import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, TrackportError } from '#shared/errors.ts';
import { errorCodes, problems } from '#shared/outcomes/problems.ts';
import { pageHeaders } from '../responses/headers.ts';
import type { AreaContext, HttpApp } from '../context.ts';

/** Areas that this port may be without: health has another one with `server.opsPort`. */
type Served = { hasPortal: boolean; hasOperations: boolean };

type Place = { path: string; name: string; what: string };

/** Pages of text outside the portal, in its colours: where to go from here, and what each problem means. */
export function plainPageRoutes(app: HttpApp, context: AreaContext, served: Served): void {
  addLanding(app, served);
  addProblems(app, context);
}

/** `/`: what this is and where to go from here. It tells nobody more than those pages do. */
function addLanding(app: HttpApp, served: Served): void {
  const title = 'Trackport';
  const main = mainOf(served);
  const footer =
    'Something else? Ask whoever operates this service, and quote the <code>X-Request-Id</code> of the response.';
  app.get('/', { schema: { hide: true }, config: { freeQuery: true } }, async (_request, reply) =>
    sendPlainPage(reply.header('cache-control', 'public, max-age=300'), { title, main, footer }),
  );
}

function mainOf(served: Served): string {
  const places = placesOf(served).map(
    ({ path, name, what }) => `<dt><a href="${path}">${name}</a></dt>\n<dd>${what}</dd>`,
  );
  return `<h1>Trackport</h1>
<p>Stands between an issue tracker and the systems that live from it: sales tools read approved leads,
partners send signed deletions, owners keep a catalog of versioned artifacts.</p>
<dl>
${places.join('\n')}
</dl>`;
}

/** Relative, so that they hold below any address that a proxy gives this service. */
function placesOf({ hasPortal, hasOperations }: Served): Place[] {
  const portal = {
    path: 'portal',
    name: 'Portal',
    what: 'For the people who operate it: sign in to see what came in, and to give out keys.',
  };
  const operations = {
    path: 'readyz',
    name: 'Health',
    what: 'Whether each part works, as JSON. <code>/healthz</code> says whether the process does.',
  };
  return [
    ...(hasPortal ? [portal] : []),
    { path: 'docs', name: 'API', what: 'Every path, to read and to try.' },
    {
      path: 'openapi.json',
      name: 'OpenAPI',
      what: 'The same for machines, to generate clients from.',
    },
    {
      path: 'problems',
      name: 'Problems',
      what: 'Every code that a response can carry, and what to do.',
    },
    ...(hasOperations ? [operations] : []),
  ];
}

/**
 * The pages that problem types lead to, `/problems/{code}`, and the list of all, `/problems`: as HTML,
 * or as JSON for who names JSON in `Accept`.
 */
function addProblems(app: HttpApp, { publicUrl }: AreaContext): void {
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

const STYLE = `:root{color-scheme:light dark}
html{background:light-dark(#f6f7f9,#0e1013);color:light-dark(#15181d,#eceef1)}
body{font:1rem/1.6 -apple-system,'Segoe UI Variable Text','Segoe UI',Roboto,Cantarell,'Liberation Sans',system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}
svg{display:block;margin-bottom:.75rem}svg,a{color:light-dark(#3448b5,#a3b3ff)}
h1{font-size:1.6rem;line-height:1.25;margin:0}h2{font-size:1.1rem;margin:1.75rem 0 .25rem}p{margin:.5rem 0}footer{margin-top:2.5rem}
dl{margin:1.5rem 0}dt{margin-top:1rem;font-weight:600}dd{margin:0}dd,footer,.note{color:light-dark(#464f5b,#b6bec8)}
code{font-size:.95em;padding:.1em .4em;border-radius:.25em;background:light-dark(#e1e5ea,#2a2f36);overflow-wrap:anywhere}`;
const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');
const HEADERS = {
  ...pageHeaders(`style-src 'sha256-${STYLE_DIGEST}'; img-src data:; `),
  'content-type': 'text/html; charset=utf-8',
};

const MARK = `<svg width="28" height="28" viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" aria-hidden="true"><rect width="22" height="22" rx="5" fill="currentColor" fill-opacity=".16" stroke="none"/><path d="M5 6.5h12M5 15.5h4.5M11 6.5v4.2a4.8 4.8 0 0 0 4.8 4.8H17"/></svg>`;

type PlainPage = {
  title: string;
  /** Markup. */
  main: string;
  /** Markup. */
  footer: string;
};

/** Sends a page. Every part is a constant of ours, or was made safe by the caller. */
function sendPlainPage(reply: FastifyReply, { title, main, footer }: PlainPage) {
  return reply.headers(HEADERS).send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<main>
${MARK}
${main}
</main>
<footer><p>${footer}</p></footer>
</html>
`);
}
