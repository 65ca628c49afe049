import { z } from 'zod';

import type { Sessions } from '#access/sessions/sessions.ts';

import { html } from '../html.ts';
import { errorSummary } from '../shell/notice.ts';
import { ownPath } from '../routes/return-path.ts';
import type { PortalRoutes } from '../routes/route-types.ts';
import { timeZoneForm } from '../shell/time-zone.ts';

export type TimeZoneDeps = { sessions: Pick<Sessions, 'setTimeZone'> };

/** Names that this server can show times in; whatever the browser calls its own. */
const timeZone = z.string().max(64).refine(isTimeZone, { error: 'must be a time zone' });

/** In which zone the person reads times: kept in the session. */
export function addTimeZonePages(portal: PortalRoutes, { sessions }: TimeZoneDeps): void {
  portal.page(
    '/portal/time-zone',
    { query: z.strictObject({ returnTo: z.string().optional() }) },
    async ({ person, query }) => ({
      title: 'Time zone',
      section: 'overview',
      body: timeZoneForm({ person, returnTo: ownPath(query.returnTo) }),
    }),
  );
  portal.action(
    '/portal/time-zone',
    {
      form: z.strictObject({ timeZone, returnTo: z.string().optional() }),
      onProblems: async ({ person, typed, problems }) => ({
        title: 'Time zone',
        section: 'overview',
        body: html`${errorSummary({ heading: 'Not changed', problems })}
        ${timeZoneForm({ person, returnTo: ownPath(typed['returnTo']) })}`,
      }),
    },
    async ({ form, session }) => {
      await sessions.setTimeZone(session, form.timeZone);
      return { location: ownPath(form.returnTo) };
    },
  );
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
