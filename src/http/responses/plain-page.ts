/** Small pages of text, outside the portal, in its colours. */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { pageHeaders } from './headers.ts';

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

export type PlainPage = {
  title: string;
  /** Markup. */
  main: string;
  /** Markup. */
  footer: string;
};

/** Sends a page. Every part is a constant of ours, or was made safe by the caller. */
export function sendPlainPage(reply: FastifyReply, { title, main, footer }: PlainPage) {
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
