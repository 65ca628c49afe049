import type { z } from 'zod';
import { grantOf } from '#access/grants/grant.ts';
import type { Access } from '#access/index.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import type { FormProblem, PortalPage, TypedFields } from '../../page.ts';
import { SIGNED_IN_ANEW } from '../../routes/run-action.ts';
import type { FormRequest, PortalRoutes } from '../../routes/route-types.ts';
import {
  consumerPage,
  type ConsumerPagesDeps,
  knownLabels,
  ofConsumer,
  placeOf,
  scope,
} from './consumer-page.ts';
import {
  grantsDigest,
  grantsForm,
  LIFETIMES,
  limitForm,
  nameForm,
  newConsumerForm,
  toGrants,
  toLabels,
  type Visibility,
} from './forms.ts';
import { consumerPath, CONSUMERS_PATH } from './query.ts';
import { shownKey } from './shown-key.ts';
import { contradiction, type KnownLabels, labelProblems, visibilityFields } from './visibility.ts';
import type { PortalPerson } from '../../person.ts';
import { html, type Html } from '../../html.ts';
import { plainCard, row } from '../../shell/card.ts';
import { input, select } from '../../shell/fields.ts';
import { button, postForm } from '../../shell/forms.ts';
import { errorSummary, problemOf } from '../../shell/notice.ts';
import { link } from '../../shell/parts.ts';

/** What is done without a question; each goes through the same use case as the API. */
export function addConsumerActions(portal: PortalRoutes, deps: ConsumerPagesDeps): void {
  addCreate(portal, deps);
  addGrants(portal, deps);
  addSetting(portal, deps, { name: 'name', form: nameForm, patchOf: (form) => form });
  addSetting(portal, deps, {
    name: 'limit',
    form: limitForm,
    patchOf: ({ limitPerMinute }) => ({ limitPerMinute: limitPerMinute ?? null }),
  });
  addStates(portal, deps);
}

function addCreate(portal: PortalRoutes, deps: ConsumerPagesDeps): void {
  const page = async ({ problems, ...given }: FormRequest): Promise<PortalPage> => {
    const known = { labels: await knownLabels(deps), defaultLimit: deps.defaultLimit() };
    const body = newConsumerView({ ...given, ...known, problems: problems.map(inWords) });
    return { ...placeOf(), title: 'Create consumer', body };
  };
  const options = { scope, form: newConsumerForm, doneOnce: true, page } as const;
  portal.action(`${CONSUMERS_PATH}/new`, options, async ({ form, origin }) => {
    await checkLabels(deps, form);
    const { name, lifetime, limitPerMinute } = form;
    const input = {
      name,
      grants: toGrants(form),
      ...(limitPerMinute !== undefined && { limitPerMinute }),
      ...(lifetime !== undefined && { expiresInMs: lifetime }),
    };
    const made = await deps.access.consumers.create(input, origin);
    return {
      location: consumerPath(made.consumer.id),
      notice: 'The consumer was created.',
      secret: shownKey(made, deps.publicUrl()),
    };
  });
}

function addGrants(portal: PortalRoutes, deps: ConsumerPagesDeps): void {
  const { consumers } = deps.access;
  portal.action(
    `${CONSUMERS_PATH}/:id/grants`,
    {
      ...ofConsumer,
      form: grantsForm,
      onProblems: ({ person, params, typed, problems }) => {
        const isAnew = problems.some(({ code }) => code === SIGNED_IN_ANEW);
        const chosen = typedVisibility(typed);
        const seen = isAnew && { seen: String(typed['seen']) };
        const returned = { heading: 'Grants not saved', problems, chosen, ...seen };
        return consumerPage(deps, params.id, { person, returned });
      },
    },
    async ({ form, params: { id }, origin }) => {
      const { grants } = await consumers.read(id);
      if (grantsDigest(grants) !== form.seen) refuseOtherGrants();
      await checkLabels(deps, form, grantOf(grants, 'leads:read')?.labels);
      await consumers.replaceGrants({ id, grants: toGrants(form), expected: grants }, origin);
      return { location: consumerPath(id), notice: 'The grants were saved.' };
    },
  );
}

/** The API offers to force a name that another consumer has; the portal does not. */
function inWords(problem: FormProblem): FormProblem {
  if (problem.code !== 'duplicate') return problem;
  return { ...problem, detail: 'Another consumer has this name. Choose another one.' };
}

function refuseOtherGrants(): never {
  throw new TrackportError('precondition-failed', {
    detail:
      'Somebody else has changed these grants since you opened the page. The form below shows what you chose: compare it with “May read”, then save again.',
  });
}

/** A label that was granted before may be gone from the tracker, and stay. @throws {validation-failed} */
async function checkLabels(
  deps: ConsumerPagesDeps,
  form: Visibility,
  before?: readonly string[],
): Promise<void> {
  const problems =
    form.sees === 'labels'
      ? labelProblems(form, await knownLabels(deps), before)
      : contradiction(form, before);
  if (problems.length > 0) refuse(problems);
}

type Patch = Parameters<Access['consumers']['update']>[0]['patch'];

function addSetting<Form extends z.ZodType>(
  portal: PortalRoutes,
  deps: ConsumerPagesDeps,
  given: { name: 'name' | 'limit'; form: Form; patchOf: (form: z.output<Form>) => Patch },
): void {
  const { name, form, patchOf } = given;
  const heading = `${name === 'name' ? 'Name' : 'Limit'} not saved`;
  portal.action(
    `${CONSUMERS_PATH}/:id/${name}`,
    {
      ...ofConsumer,
      form,
      onProblems: ({ person, params, problems }) => {
        const returned = { heading, problems: problems.map(inWords) };
        return consumerPage(deps, params.id, { person, returned });
      },
    },
    async ({ form: sent, params: { id }, origin }) => {
      await deps.access.consumers.update({ id, patch: patchOf(sent) }, origin);
      return { location: consumerPath(id), notice: `The ${name} was saved.` };
    },
  );
}

function addStates(portal: PortalRoutes, { access: { consumers } }: ConsumerPagesDeps): void {
  const changes = [
    { below: 'enable', state: 'active', notice: 'The consumer is enabled: its keys work again.' },
    { below: 'disable', state: 'disabled', notice: 'The consumer is disabled.' },
  ] as const;
  for (const { below, state, notice } of changes)
    portal.action(
      `${CONSUMERS_PATH}/:id/${below}`,
      ofConsumer,
      async ({ params: { id }, origin }) => {
        await consumers.update({ id, patch: { state } }, origin);
        return { location: consumerPath(id), notice };
      },
    );
}

type NewConsumerFacts = {
  person: PortalPerson;
  labels: KnownLabels;
  /** What was typed, when the form came back. */
  typed?: TypedFields;
  problems?: readonly FormProblem[];
  defaultLimit: number;
};

const FIELDS = {
  name: 'Name',
  sees: 'Sees',
  label: 'Labels',
  workspace: 'Catalog',
  lifetime: 'Key',
  limitPerMinute: 'Limit',
};

/** The form that makes a consumer with its grants and its first key. */
function newConsumerView(given: NewConsumerFacts): Html {
  const { person, labels, typed = {}, problems = [], defaultLimit } = given;
  const errorOf = (name: string): string | undefined => problemOf(problems, name);
  const fields = [
    input({
      name: 'name',
      label: 'Name',
      value: textOf(typed['name']),
      required: true,
      note: 'Who reads, as people here call it. It can be changed.',
      error: errorOf('name'),
    }),
    visibilityFields(typedVisibility(typed), labels, errorOf),
    select({
      name: 'lifetime',
      label: 'Its first key works',
      value: textOf(typed['lifetime']),
      choices: LIFETIMES,
      note: 'A key that ends is replaced without a gap: rotate it in time.',
      error: errorOf('lifetime'),
    }),
    input({
      name: 'limitPerMinute',
      label: 'Calls per minute',
      type: 'number',
      min: 1,
      value: textOf(typed['limitPerMinute']),
      placeholder: String(defaultLimit),
      note: `Empty: the default, ${defaultLimit}. Each instance counts on its own.`,
      error: errorOf('limitPerMinute'),
    }),
    row(
      button('Create consumer', { look: 'primary' }),
      link({ href: CONSUMERS_PATH, text: 'Cancel', look: 'button' }),
    ),
  ];
  const form = postForm(
    { action: `${CONSUMERS_PATH}/new`, person, look: 'body', isDoneOnce: true },
    fields,
  );
  const summary =
    problems.length > 0 && errorSummary({ heading: 'Not created', problems, labels: FIELDS });
  return html`${summary}${plainCard(form)}`;
}

/** What was chosen in a form that came back; nothing is chosen before that. */
function typedVisibility(typed: TypedFields): Visibility {
  const sees = textOf(typed['sees']);
  return {
    sees: sees === 'labels' || sees === 'nothing' ? sees : 'all',
    label: toLabels(typed['label']),
    workspace: textOf(typed['workspace']) ?? '',
  };
}

/** The text of a field that came back. */
function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
