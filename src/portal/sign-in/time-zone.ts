import { z } from 'zod';
import { ownPath } from '../address.ts';
import type { PortalDeps } from '../context.ts';
import { html, type Html } from '../html.ts';
import type { PortalPerson } from '../page.ts';
import type { PortalRoutes } from '../routes/route-types.ts';
import { body, card, row } from '../shell/card.ts';
import { errorSummary } from '../shell/notice.ts';
import { select, button, postForm } from '../shell/forms.ts';
import { link } from '../shell/elements.ts';
import { isTimeZone } from '../shell/times.ts';

/** Names that this server can show times in; whatever the browser calls its own. */
const timeZone = z.string().max(64).refine(isTimeZone, { error: 'must be a time zone' });
const returnTo = z.string().optional();

/** In which zone the person reads times: kept in the session. */
export function addTimeZonePages(
  portal: PortalRoutes,
  { sessions }: Pick<PortalDeps, 'sessions'>,
): void {
  portal.action('/portal/time-zone', {
    query: z.strictObject({ returnTo }),
    form: z.strictObject({ timeZone, returnTo }),
    page: async ({ person, query, typed, problems }) => {
      const summary = problems.length > 0 && errorSummary({ heading: 'Not changed', problems });
      const form = timeZoneForm(person, ownPath(query?.returnTo ?? typed['returnTo']));
      return { title: 'Time zone', section: 'overview', body: html`${summary} ${form}` };
    },
    run: async ({ form, session }) => {
      await sessions.setTimeZone(session, form.timeZone);
      return { location: ownPath(form.returnTo) };
    },
  });
}

let zones: readonly string[] | undefined;

/** The body of `/portal/time-zone`. `returnTo` was checked to be one of ours. */
export function timeZoneForm(person: PortalPerson, returnTo: string): Html {
  zones ??= ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
  const known = zones.includes(person.timeZone) ? zones : [person.timeZone, ...zones];
  const choices = known.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }));
  const field = select({
    name: 'timeZone',
    label: 'Time zone',
    value: person.timeZone,
    choices,
    note: 'For this session. Behind every time stands the exact UTC.',
  });
  const buttons = row(
    button('Use this zone', { look: 'primary' }),
    link(returnTo, 'Cancel', { look: 'button' }),
  );
  const action = { action: '/portal/time-zone', person, values: { returnTo } };
  return html`<div class="dialog">
    ${card({ id: 'zone', heading: 'Times in which zone?' }, body(postForm(action, field, buttons)))}
  </div>`;
}
