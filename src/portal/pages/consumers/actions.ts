import { grantOf } from '#access/grants/grant.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import type { FormProblem } from '../../page.ts';
import { requireTyped, typedForm } from '../../retyped.ts';
import { SIGNED_IN_ANEW } from '../../routes/run-action.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import {
  grantsDigest,
  grantsForm,
  keyForm,
  limitForm,
  nameForm,
  newConsumerForm,
  rotateForm,
  toGrants,
} from './forms.ts';
import { typedVisibility } from './new-view.ts';
import { consumerPath, CONSUMERS_PATH } from './query.ts';
import { ofConsumer, ofKey, scope } from './page-makers.ts';
import type { ConsumerPageMakers, ConsumerPagesDeps } from './page-makers.ts';
import { shownKey } from './shown-key.ts';
import { contradiction, labelProblems } from './visibility.ts';
import type { Visibility } from './forms.ts';

/** Everything that is done about consumers; each goes through the same use case as the API. */
export function addConsumerActions(
  portal: PortalRoutes,
  deps: ConsumerPagesDeps,
  pages: ConsumerPageMakers,
): void {
  for (const add of families) add({ portal, deps, pages });
}

const families = [addCreate, addGrants, addSettings, addStates, addKeys, addRotation];

type Parts = { portal: PortalRoutes; deps: ConsumerPagesDeps; pages: ConsumerPageMakers };

function addCreate({ portal, deps, pages }: Parts): void {
  portal.action(
    `${CONSUMERS_PATH}/new`,
    {
      scope,
      form: newConsumerForm,
      doneOnce: true,
      onProblems: (back) => pages.create({ ...back, problems: back.problems.map(inWords) }),
    },
    async ({ form, origin }) => {
      await checkLabels(pages, form);
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
    },
  );
}

function addGrants({ portal, deps, pages }: Parts): void {
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
        return pages.show(params.id, { person, returned });
      },
    },
    async ({ form, params: { id }, origin }) => {
      const { grants } = await deps.access.consumers.read(id);
      if (grantsDigest(grants) !== form.seen) refuseOtherGrants();
      await checkLabels(pages, form, grantOf(grants, 'leads:read')?.labels);
      const input = { id, grants: toGrants(form), expected: grants };
      await deps.access.consumers.replaceGrants(input, origin);
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
  pages: ConsumerPageMakers,
  form: Visibility,
  before?: readonly string[],
): Promise<void> {
  const problems =
    form.sees === 'labels'
      ? labelProblems(form, await pages.labels(), before)
      : contradiction(form, before);
  if (problems.length > 0) refuse(problems);
}

function addSettings({ portal, deps, pages }: Parts): void {
  const { consumers } = deps.access;
  portal.action(
    `${CONSUMERS_PATH}/:id/name`,
    {
      ...ofConsumer,
      form: nameForm,
      onProblems: ({ person, params, ...back }) => {
        const problems = back.problems.map(inWords);
        return pages.show(params.id, { person, returned: { heading: 'Name not saved', problems } });
      },
    },
    async ({ form, params: { id }, origin }) => {
      await consumers.update({ id, patch: form }, origin);
      return { location: consumerPath(id), notice: 'The name was saved.' };
    },
  );
  portal.action(
    `${CONSUMERS_PATH}/:id/limit`,
    {
      ...ofConsumer,
      form: limitForm,
      onProblems: ({ person, params, problems }) =>
        pages.show(params.id, { person, returned: { heading: 'Limit not saved', problems } }),
    },
    async ({ form, params: { id }, origin }) => {
      const patch = { limitPerMinute: form.limitPerMinute ?? null };
      await consumers.update({ id, patch }, origin);
      return { location: consumerPath(id), notice: 'The limit was saved.' };
    },
  );
}

function addStates({ portal, deps, pages }: Parts): void {
  const { consumers } = deps.access;
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
  portal.action(
    `${CONSUMERS_PATH}/:id/revoke`,
    {
      ...ofConsumer,
      form: typedForm,
      onProblems: (back) => pages.confirmRevoke(back.params.id, back),
    },
    async ({ form, params: { id }, origin }) => {
      requireTyped(form.typed, (await consumers.read(id)).name, 'the name of the consumer');
      await consumers.revoke({ id }, origin);
      return { location: consumerPath(id), notice: 'The consumer was revoked.' };
    },
  );
}

function addKeys({ portal, deps, pages }: Parts): void {
  const { keys } = deps.access;
  portal.action(
    `${CONSUMERS_PATH}/:id/keys/new`,
    {
      ...ofConsumer,
      form: keyForm,
      doneOnce: true,
      onProblems: (back) => pages.newKey(back.params.id, back),
    },
    async ({ form, params: { id }, origin }) => {
      const lifetime = form.lifetime !== undefined && { expiresInMs: form.lifetime };
      const made = await keys.add({ id, ...lifetime }, origin);
      const secret = shownKey(made, deps.publicUrl());
      return { location: consumerPath(id), notice: 'A key was made.', secret };
    },
  );
  portal.action(
    `${CONSUMERS_PATH}/:id/keys/:keyId/revoke`,
    {
      ...ofKey,
      form: typedForm,
      onProblems: (back) => pages.confirmRevokeKey(back.params, back),
    },
    async ({ form, params, origin }) => {
      requireTyped(form.typed, params.keyId, 'the id of the key');
      await keys.revoke(params, origin);
      return { location: consumerPath(params.id), notice: 'The key was revoked.' };
    },
  );
}

function addRotation({ portal, deps, pages }: Parts): void {
  portal.action(
    `${CONSUMERS_PATH}/:id/keys/:keyId/rotate`,
    {
      ...ofKey,
      form: rotateForm,
      doneOnce: true,
      onProblems: (back) => pages.confirmRotateKey(back.params, back),
    },
    async ({ form, params, origin }) => {
      const input = { ...params, overlapMs: form.overlap };
      const made = await deps.access.keys.rotate(input, origin);
      return {
        location: consumerPath(params.id),
        notice: 'The key was rotated.',
        secret: shownKey(made, deps.publicUrl()),
      };
    },
  );
}
