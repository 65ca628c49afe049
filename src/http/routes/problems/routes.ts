import { createHash } from 'node:crypto';
import { TrackportError, errorCodes } from '#shared/errors.ts';
import type { ErrorCode } from '#shared/errors.ts';
import type { Area, HttpContext } from '../../http-app.ts';
import { problemKinds } from '../../problems/problem.ts';
import { problemHelp } from '../../problems/problem-help.ts';
import { pageHeaders } from '../../responses/security-headers.ts';

const STYLE = `:root{color-scheme:light dark}
body{font:1rem/1.6 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}
h1{font-size:1.6rem;line-height:1.25;margin:0}h2{font-size:1.1rem;margin:1.75rem 0 .25rem}p{margin:.5rem 0}footer{margin-top:2.5rem}
code{font-size:.95em;padding:.1em .4em;border-radius:.25em;background:light-dark(#eef1f4,#2a2f36)}
a{color:light-dark(#0550ae,#79b8ff)}`;
const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');
const PAGE_HEADERS = pageHeaders(`style-src 'sha256-${STYLE_DIGEST}'; img-src data:; `);

/** The pages that problem types lead to: `/problems/{code}`, as HTML or JSON. */
export function problemRoutes(context: HttpContext): Area {
  return (app) => {
    app.get<{ Params: { code: string } }>(
      '/problems/:code',
      { schema: { hide: true } },
      async (request, reply) => {
        const code = errorCodes.find((known) => known === request.params.code);
        if (!code) throw new TrackportError('not-found', { detail: 'There is no such problem.' });
        reply.header('cache-control', 'public, max-age=3600').header('vary', 'Accept');
        const wantsJson = /\bjson\b/i.test(request.headers.accept ?? '');
        if (wantsJson) return reply.send(documentOf(context.publicUrl(), code));
        return reply
          .headers(PAGE_HEADERS)
          .header('content-type', 'text/html; charset=utf-8')
          .send(pageOf(code));
      },
    );
  };
}

function documentOf(publicUrl: string, code: ErrorCode) {
  const { status, title } = problemKinds[code];
  return { type: `${publicUrl}/problems/${code}`, code, status, title, ...problemHelp[code] };
}

/** Every part is a constant of ours and free of markup. */
function pageOf(code: ErrorCode): string {
  const { status, title } = problemKinds[code];
  const { meaning, remedy } = problemHelp[code];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} (${code})</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<main>
<h1>${title}</h1>
<p><code>${code}</code> status ${status}</p>
<h2>What it means</h2>
<p>${meaning}</p>
<h2>What to do</h2>
<p>${remedy}</p>
</main>
<footer><p><a href="../docs">The API of this service</a></p></footer>
</html>
`;
}
