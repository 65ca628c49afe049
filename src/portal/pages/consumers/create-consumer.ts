import { z } from 'zod';
import type { ConsumerWithKey } from '#access/keys/key-rules.ts';
import { html, type Html } from '../../html.ts';
import type { ShownSecret } from '../../page.ts';
import { consumerPath, CONSUMERS_PATH, SECTIONS } from '../../paths.ts';
import { action } from '../../routes/action-route.ts';
import type { PortalRequest } from '../../routes/portal-request.ts';
import { plainCard, row } from '../../shell/card.ts';
import { link } from '../../shell/elements.ts';
import { button, errorSummary, held, input, postForm, select } from '../../shell/forms.ts';
import {
  checkLabels,
  grantChoice,
  grantFields,
  inWords,
  type KnownLabels,
  knownLabels,
  lifetime,
  LIFETIME_DEFAULT,
  LIFETIMES,
  limitField,
  limitPerMinute,
  name,
  toGrants,
  typedGrantChoice,
} from './consumer-fields.ts';

const PATH = `${CONSUMERS_PATH}/new`;

/** The form of a consumer with its grants and its first key, which the page after it shows once. */
export const createConsumerAction = action({
  path: PATH,
  scope: SECTIONS.consumers.scope,
  form: z.object({ name, ...grantChoice, lifetime, limitPerMinute }),
  page: async (context, request) => ({
    section: 'consumers',
    crumbs: [],
    title: 'Create consumer',
    body: newConsumerView(request, await knownLabels(context), context.defaultLimit()),
  }),
  run: async (context, { form, origin }) => {
    await checkLabels(context, form);
    const { name, limitPerMinute, lifetime: expiresInMs } = form;
    const input = { name, grants: toGrants(form), limitPerMinute, expiresInMs };
    const made = await context.access.consumers.create(input, origin);
    return {
      location: consumerPath(made.consumer.id),
      notice: 'The consumer was created.',
      secret: shownKey(made, context.publicUrl()),
    };
  },
});

/** A key that was just made, for the one page that shows it. */
export function shownKey({ consumer, issued }: ConsumerWithKey, publicUrl: string): ShownSecret {
  const actions = consumer.grants.map(({ action }) => action);
  const path = actions.includes('leads:read')
    ? 'leads?limit=3'
    : actions.length > 0
      ? 'catalog?limit=3'
      : 'me';
  return {
    heading: 'Keep this key in a safe place now',
    value: issued.key.reveal(),
    text: 'It is shown once and cannot be read again: only its SHA-256 is stored. Lost it? Rotate it.',
    note: 'A click selects the whole key. Send it in the header X-API-KEY, never in an address.',
    command: `printf 'Key: '; read -r KEY; curl -sw '\\n' -H "X-API-KEY: $KEY" '${publicUrl}/api/v1/${path}'`,
  };
}

const FIELDS = {
  name: 'Name',
  sees: 'Sees',
  label: 'Labels',
  workspace: 'Catalog',
  lifetime: 'Key',
  limitPerMinute: 'Limit',
};

function newConsumerView(
  { person, typed, problems: found }: PortalRequest,
  labels: KnownLabels,
  defaultLimit: number,
): Html {
  const problems = found.map(inWords);
  const form = { typed, problems };
  const fields = [
    input({
      ...held('name', form),
      label: 'Name',
      required: true,
      note: 'Who reads, as people here call it. It can be changed.',
    }),
    grantFields(typedGrantChoice.parse(typed), labels, problems),
    select({
      ...held('lifetime', form, LIFETIME_DEFAULT),
      label: 'Its first key works',
      choices: LIFETIMES,
      note: 'A key that ends is replaced without a gap: rotate it in time.',
    }),
    limitField(defaultLimit, form),
    row(
      button('Create consumer', { look: 'primary' }),
      link(CONSUMERS_PATH, 'Cancel', { look: 'button' }),
    ),
  ];
  const summary =
    problems.length > 0 && errorSummary({ heading: 'Not created', problems, labels: FIELDS });
  return html`${summary}${plainCard(postForm({ action: PATH, person, look: 'body' }, fields))}`;
}
