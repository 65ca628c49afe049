/** The page behind “Change” at the foot of every page: times in which zone. */
import type { PortalPerson } from '../person.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { body, card, row } from './card.ts';
import { select } from './fields.ts';
import { button, postForm } from './forms.ts';
import { link } from './parts.ts';

let zones: readonly string[] | undefined;

export type TimeZoneFacts = {
  person: PortalPerson;
  /** Path to go back to; it was checked to be one of ours. */
  returnTo: string;
};

/** The body of `/portal/time-zone`. It posts `timeZone` and `returnTo` to the same path. */
export function timeZoneForm({ person, returnTo }: TimeZoneFacts): Html {
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
    button('Show times so', { look: 'primary' }),
    link({ href: returnTo, text: 'Cancel', look: 'button' }),
  );
  const action = { action: '/portal/time-zone', person, values: { returnTo } };
  return html`<div class="dialog">
    ${card({ id: 'zone', heading: 'Times in which zone?' }, body(postForm(action, field, buttons)))}
  </div>`;
}
