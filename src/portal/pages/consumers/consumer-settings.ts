import type { z } from 'zod';
import { grantOf } from '#access/grant.ts';
import type { Access } from '#access/index.ts';
import type { ConsumerWithKey } from '#access/keys/manage-keys.ts';
import { type FieldProblem, refuse, TrackportError } from '#shared/errors.ts';
import { present } from '../../address.ts';
import { html, type Html } from '../../html.ts';
import type { ShownSecret } from '../../page.ts';
import type { FormRequest, PortalRoutes } from '../../routes/route-types.ts';
import { plainCard, row } from '../../shell/card.ts';
import { errorSummary } from '../../shell/notice.ts';
import { held, input, select, button, postForm } from '../../shell/forms.ts';
import { link } from '../../shell/elements.ts';
import type { PagesContext } from '../../context.ts';
import { consumerPage } from './consumer-page.ts';
import {
  grantsDigest,
  grantsForm,
  LIFETIME_DEFAULT,
  LIFETIMES,
  limitForm,
  nameForm,
  newConsumerForm,
  toGrants,
  typedGrantChoice,
  type GrantChoice,
  contradiction,
  type KnownLabels,
  knownLabels,
  labelProblems,
  limitField,
  grantFields,
} from './grant-fields.ts';
import { ofConsumer, placeOf, scope } from './consumer-words.ts';
import { CONSUMERS_PATH, consumerPath } from '../../paths.ts';

/** What is done without a question; each goes through the same use case as the API. */
export function addConsumerActions(portal: PortalRoutes, context: PagesContext): void {
  addCreate(portal, context);
  addGrants(portal, context);
  addSetting(portal, context, { name: 'name', form: nameForm, patchOf: (form) => form });
  addSetting(portal, context, {
    name: 'limit',
    form: limitForm,
    patchOf: ({ limitPerMinute }) => ({ limitPerMinute: limitPerMinute ?? null }),
  });
  addStates(portal, context);
}

function addCreate(portal: PortalRoutes, context: PagesContext): void {
  const { access, defaultLimit, publicUrl } = context;
  portal.action(`${CONSUMERS_PATH}/new`, {
    scope,
    form: newConsumerForm,
    doneOnce: true,
    page: async (request) => ({
      ...placeOf(),
      title: 'Create consumer',
      body: newConsumerView(request, await knownLabels(context), defaultLimit()),
    }),
    run: async ({ form, origin }) => {
      await checkLabels(context, form);
      const { name, lifetime, limitPerMinute } = form;
      const optional = present({ limitPerMinute, expiresInMs: lifetime });
      const input = { name, grants: toGrants(form), ...optional };
      const made = await access.consumers.create(input, origin);
      return {
        location: consumerPath(made.consumer.id),
        notice: 'The consumer was created.',
        secret: shownKey(made, publicUrl()),
      };
    },
  });
}

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

function addGrants(portal: PortalRoutes, context: PagesContext): void {
  const { consumers } = context.access;
  portal.action(`${CONSUMERS_PATH}/:id/grants`, {
    ...ofConsumer,
    form: grantsForm,
    onProblems: (request) => {
      const { typed, problems, seenBefore: seen } = request;
      const returned = { heading: 'Grants not saved', problems, seen };
      return consumerPage(context, request, { ...returned, chosen: typedGrantChoice.parse(typed) });
    },
    run: async ({ form, params: { id }, origin }) => {
      const { grants } = await consumers.read(id);
      if (grantsDigest(grants) !== form.seen) refuseUnseenGrants();
      await checkLabels(context, form, grantOf(grants, 'leads:read')?.labels);
      await consumers.replaceGrants({ id, grants: toGrants(form), expected: grants }, origin);
      return { location: consumerPath(id), notice: 'The grants were saved.' };
    },
  });
}

/** The API offers to force a name that another consumer has; the portal does not. */
function inWords(problem: FieldProblem): FieldProblem {
  if (problem.code !== 'duplicate') return problem;
  return { ...problem, detail: 'Another consumer has this name. Choose another one.' };
}

function refuseUnseenGrants(): never {
  throw new TrackportError('precondition-failed', {
    detail:
      'Somebody else has changed these grants since you opened the page. The form below shows what you chose: compare it with “May read”, then save again.',
  });
}

/** A label that was granted before may be gone from the tracker, and stay. @throws {validation-failed} */
async function checkLabels(
  context: PagesContext,
  form: GrantChoice,
  before?: readonly string[],
): Promise<void> {
  const problems =
    form.sees === 'labels'
      ? labelProblems(form, await knownLabels(context), before)
      : contradiction(form, before);
  if (problems.length > 0) refuse(problems);
}

type Patch = Parameters<Access['consumers']['update']>[0]['patch'];

function addSetting<Form extends z.ZodType>(
  portal: PortalRoutes,
  context: PagesContext,
  given: { name: 'name' | 'limit'; form: Form; patchOf: (form: z.output<Form>) => Patch },
): void {
  const { name, form, patchOf } = given;
  const heading = `${name === 'name' ? 'Name' : 'Limit'} not saved`;
  portal.action(`${CONSUMERS_PATH}/:id/${name}`, {
    ...ofConsumer,
    form,
    onProblems: (request) => {
      const { typed, problems } = request;
      return consumerPage(context, request, { heading, typed, problems: problems.map(inWords) });
    },
    run: async ({ form: sent, params: { id }, origin }) => {
      await context.access.consumers.update({ id, patch: patchOf(sent) }, origin);
      return { location: consumerPath(id), notice: `The ${name} was saved.` };
    },
  });
}

function addStates(portal: PortalRoutes, { access: { consumers } }: PagesContext): void {
  const changes = [
    { below: 'enable', state: 'active', notice: 'The consumer is enabled: its keys work again.' },
    { below: 'disable', state: 'disabled', notice: 'The consumer is disabled.' },
  ] as const;
  for (const { below, state, notice } of changes)
    portal.action(`${CONSUMERS_PATH}/:id/${below}`, {
      ...ofConsumer,
      run: async ({ params: { id }, origin }) => {
        await consumers.update({ id, patch: { state } }, origin);
        return { location: consumerPath(id), notice };
      },
    });
}

const FIELDS = {
  name: 'Name',
  sees: 'Sees',
  label: 'Labels',
  workspace: 'Catalog',
  lifetime: 'Key',
  limitPerMinute: 'Limit',
};

/** The form that makes a consumer with its grants and its first key. */
function newConsumerView(
  { person, typed, problems: found }: FormRequest,
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
  const action = `${CONSUMERS_PATH}/new`;
  const summary =
    problems.length > 0 && errorSummary({ heading: 'Not created', problems, labels: FIELDS });
  return html`${summary}${plainCard(postForm({ action, person, look: 'body', isDoneOnce: true }, fields))}`;
}
