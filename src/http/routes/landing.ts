import type { HttpApp } from '../context.ts';
import { sendPlainPage } from '../responses/plain-page.ts';

/** Areas that this port may be without: health has another one with `server.opsPort`. */
type Served = { hasPortal: boolean; hasOperations: boolean };

type Place = { path: string; name: string; what: string };

/** `/`: what this is and where to go from here. It tells nobody more than those pages do. */
export function landingRoutes(app: HttpApp, served: Served): void {
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
