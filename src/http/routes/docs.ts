import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TrackportError } from '#shared/errors.ts';
import { packageUrl, programUrl } from '#shared/program.ts';
import { type Clock, DAY } from '#shared/clock.ts';
import { servedText } from '../openapi/document.ts';
import type { AreaContext, HttpApp } from '../context.ts';
import { type RenderedResponse, sendRendered, strongEtag } from '../responses/rendered-response.ts';
import { JSON_MEDIA_TYPE, pageHeaders } from '../responses/headers.ts';

/** Nothing inline, nothing from elsewhere; nothing here forces https. */
const DOCS_HEADERS = pageHeaders(
  "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; ",
);

const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trackport API</title>
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
</head>
<body>
<noscript>This page needs JavaScript. The same as a document: <a href="openapi.json">openapi.json</a></noscript>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** The look follows the system; Swagger UI has a dark one, but switches it by a class. */
const START_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followSystem);
followSystem();
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  supportedSubmitMethods: ['get', 'head', 'post', 'put', 'patch', 'delete'],
});
`;

/**
 * No operation has links, and their empty column makes the page wider than a phone; names of headers
 * would stay dark on dark.
 */
const PAGE_STYLE = `body { margin: 0; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui table tbody tr td.parameters-col_name, .swagger-ui table.headers tbody tr td { padding-right: 1em; }
html.dark-mode .swagger-ui table.headers td { color: #e4e6e6; }
@media (max-width: 40rem) {
  .swagger-ui .info { margin: 1.5rem 0; }
  .swagger-ui .wrapper { padding: 0 0.75rem; }
  .swagger-ui .scheme-container { padding: 1rem 0; }
}
`;

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** The files of the page that come from the package, with their media types. */
const packageFiles: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', CSS],
  ['swagger-ui-bundle.js', JAVASCRIPT],
  ['favicon-32x32.png', 'image/png'],
]);

/** One of the documents: below `docs`, or what `security.txt` leads to. */
const DOCUMENT = /^(?:(?:how-to|decisions)\/)?[\w-]+\.md$/;
const SECURITY_POLICY = 'SECURITY.md';
const MARKDOWN = 'text/markdown; charset=utf-8';

/**
 * Documents of the service: `/openapi.json`, the offline `/docs`, those in Markdown with `/llms.txt`, which lists them, and
 * `security.txt`. The files of Swagger UI are read at the first request, so that they cost nothing at start; its Fastify
 * plugin would load a file server and a validator.
 */
export function docsRoutes(app: HttpApp, context: AreaContext): void {
  const hidden = { schema: { hide: true } } as const;
  const page = { ...hidden, config: { freeQuery: true } } as const;
  const assets = createAssets();
  app.get('/openapi.json', hidden, async (request, reply) =>
    sendAsset(
      request,
      reply,
      await assets('openapi.json', async () =>
        toAsset(Buffer.from(await servedText(app.routes)), JSON_MEDIA_TYPE),
      ),
    ),
  );
  app.get('/docs', page, async (request, reply) => {
    reply.headers(DOCS_HEADERS);
    return sendAsset(request, reply, DOCS);
  });
  app.get<{ Params: { file: string } }>('/docs/:file', page, async (request, reply) => {
    const { file } = request.params;
    // A browser would look for the page's files in the wrong place.
    if (file === '') return reply.redirect('../docs', 308);
    return sendAsset(request, reply, await assets(`docs/${file}`, () => fileAsset(file)));
  });
  app.get<{ Params: { folder: string; file: string } }>(
    '/docs/:folder/:file',
    page,
    async (request, reply) => {
      const name = `${request.params.folder}/${request.params.file}`;
      return sendAsset(request, reply, await assets(`docs/${name}`, () => fileAsset(name)));
    },
  );
  app.get('/llms.txt', hidden, async (request, reply) =>
    sendAsset(request, reply, await assets('llms.txt', () => indexAsset(context.publicUrl()))),
  );
  addSecurityTxt(app, context);
}

/** Whoever reads it elsewhere needs whole addresses. @see https://llmstxt.org */
async function indexAsset(publicUrl: string): Promise<RenderedResponse> {
  const text = await readFile(programUrl('assets/llms.txt'), 'utf8');
  return toAsset(Buffer.from(text.replaceAll('](/', `](${publicUrl}/`)), MARKDOWN);
}

async function documentAsset(name: string): Promise<RenderedResponse> {
  const file = programUrl(name === SECURITY_POLICY ? name : `docs/${name}`);
  const text = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? noSuchFile() : error;
  });
  return toAsset(text, MARKDOWN);
}

function noSuchFile(): TrackportError {
  return new TrackportError('not-found', { detail: 'No such file.' });
}

/** Makes each asset once, for all who ask meanwhile, and caches it; a failure is not cached. */
function createAssets() {
  const cache = new Map<string, Promise<RenderedResponse>>();
  return (name: string, make: () => Promise<RenderedResponse>): Promise<RenderedResponse> => {
    const cached = cache.get(name);
    if (cached) return cached;
    const asset = make();
    cache.set(name, asset);
    asset.catch(() => cache.delete(name));
    return asset;
  };
}

function toAsset(bytes: Buffer, mediaType: string): RenderedResponse {
  return { bytes, etag: strongEtag(bytes), mediaType };
}

const DOCS = toAsset(Buffer.from(DOCS_PAGE), 'text/html; charset=utf-8');

async function fileAsset(name: string): Promise<RenderedResponse> {
  if (name === 'start.js') return toAsset(Buffer.from(START_SCRIPT), JAVASCRIPT);
  if (name === 'page.css') return toAsset(Buffer.from(PAGE_STYLE), CSS);
  if (DOCUMENT.test(name)) return documentAsset(name);
  const mediaType = packageFiles.get(name);
  if (mediaType === undefined) throw noSuchFile();
  return toAsset(await readFile(packageUrl(`@fastify/swagger-ui/static/${name}`)), mediaType);
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: RenderedResponse) {
  return sendRendered({ request, reply }, asset, { 'cache-control': 'no-cache' });
}

const SECURITY_TXT = '/.well-known/security.txt';
/** Time for which a copy may be believed; whoever asks anew gets a later date. */
const GOOD_FOR_MS = 180 * DAY;

/** Says whom to tell of a vulnerability, where `server.securityContact` does. @see RFC 9116 */
function addSecurityTxt(app: HttpApp, { securityContact, publicUrl, clock }: AreaContext): void {
  if (securityContact === undefined) return;
  app.get(SECURITY_TXT, { schema: { hide: true } }, async (_request, reply) =>
    reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, no-cache' })
      .send(securityText(securityContact, publicUrl(), clock)),
  );
}

function securityText(contact: string, publicUrl: string, clock: Pick<Clock, 'now'>): string {
  const fields = [
    ['Contact', contact.includes(':') ? contact : `mailto:${contact}`],
    ['Expires', new Date(clock.now() + GOOD_FOR_MS).toISOString()],
    ['Preferred-Languages', 'en'],
    // An address of the web must be of https here (sections 2.5.2 and 2.5.7).
    ...(publicUrl.startsWith('https:')
      ? [
          ['Canonical', publicUrl + SECURITY_TXT],
          ['Policy', `${publicUrl}/docs/SECURITY.md`],
        ]
      : []),
  ];
  return fields.map(([name, value]) => `${name}: ${value}\n`).join('');
}
