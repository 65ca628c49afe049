import { z } from 'zod';
import { html } from '#portal/html.ts';
import { action } from '#portal/routes/action-route.ts';
import { page, type PortalRoute } from '#portal/routes/page-route.ts';
import { TrackportError, validationFailed } from '#shared/errors.ts';

const listPage = page({
  path: '/portal/things',
  scope: 'trackport:admin',
  query: z.strictObject({ q: z.string().optional() }),
  show: async (_context, { query }) => ({
    title: 'Things',
    section: 'overview',
    body: html`<p>q=${query.q ?? 'none'}</p>`,
  }),
});

const thingPage = page({
  path: '/portal/things/:id',
  params: z.object({ id: z.string().regex(/^\d+$/) }),
  show: async (_context, { params }) => ({
    title: 'Thing',
    section: 'overview',
    body: html`<p>${params.id}</p>`,
  }),
});

/** A list with a filter, and a form that renames one of it. */
export function things(renamed: string[] = []): PortalRoute[] {
  const rename = action({
    path: '/portal/things/:id/name',
    scope: 'trackport:admin',
    params: z.object({ id: z.string() }),
    form: z.strictObject({ name: z.string().min(3), tags: z.array(z.string()).optional() }),
    onProblems: async (_context, { typed, problems }) => ({
      title: 'Thing',
      section: 'overview',
      body: html`<input value="${String(typed['name'])}" />${problems.map(
          ({ pointer, code, detail }) => html`<p>${pointer} ${code} ${detail}</p>`,
        )}`,
    }),
    run: async (_context, { form, params, origin }) => {
      if (form.name === 'taken')
        throw validationFailed([{ pointer: '#/name', code: 'taken', detail: 'Is taken.' }]);
      if (form.name === 'stale')
        throw new TrackportError('precondition-failed', { detail: 'Old.' });
      if (form.name === 'absent') throw new TrackportError('not-found', { detail: 'Is gone.' });
      renamed.push(`${params.id} ${form.name} ${JSON.stringify(origin.actor)}`);
      return {
        location: `/portal/things/${params.id}?from=form#end`,
        notice: 'Renamed.',
        secret: { heading: 'Key', value: 's3cret', text: 'Once.' },
      };
    },
  });
  return [listPage, thingPage, rename];
}
