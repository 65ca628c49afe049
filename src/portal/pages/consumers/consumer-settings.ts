import { z } from 'zod';
import { grantOf } from '#access/grant.ts';
import type { Access } from '#access/index.ts';
import { TrackportError } from '#shared/errors.ts';
import { consumerPath } from '../../paths.ts';
import { action } from '../../routes/page-actions.ts';
import {
  checkLabels,
  grantChoice,
  grantsDigest,
  inWords,
  limitPerMinute,
  name,
  toGrants,
  typedGrantChoice,
} from './consumer-fields.ts';
import { consumerPage } from './consumer-page.ts';
import { ofConsumer } from './consumer-words.ts';

const saveGrants = action({
  path: consumerPath(':id', 'grants'),
  ...ofConsumer,
  form: z.object({ ...grantChoice, seen: z.string() }),
  onProblems: (context, request) => {
    const { typed, problems, seenBefore: seen } = request;
    const returned = { heading: 'Grants not saved', problems, seen };
    return consumerPage(context, request, { ...returned, chosen: typedGrantChoice.parse(typed) });
  },
  run: async (context, { form, params: { id }, origin }) => {
    const { consumers } = context.access;
    const { grants } = await consumers.read(id);
    if (grantsDigest(grants) !== form.seen) refuseUnseenGrants();
    await checkLabels(context, form, grantOf(grants, 'leads:read')?.labels);
    await consumers.replaceGrants({ id, grants: toGrants(form), expected: grants }, origin);
    return { location: consumerPath(id), notice: 'The grants were saved.' };
  },
});

function refuseUnseenGrants(): never {
  throw new TrackportError('precondition-failed', {
    detail:
      'Somebody else has changed these grants since you opened the page. The form below shows what you chose: compare it with “May read”, then save again.',
  });
}

type Patch = Parameters<Access['consumers']['update']>[0]['patch'];

const saveSetting = <Form extends z.ZodType>(
  setting: 'name' | 'limit',
  form: Form,
  patchOf: (form: z.output<Form>) => Patch,
) =>
  action({
    path: consumerPath(':id', setting),
    ...ofConsumer,
    form,
    onProblems: (context, request) => {
      const heading = `${setting === 'name' ? 'Name' : 'Limit'} not saved`;
      const { typed, problems } = request;
      return consumerPage(context, request, { heading, typed, problems: problems.map(inWords) });
    },
    run: async ({ access }, { form: sent, params: { id }, origin }) => {
      await access.consumers.update({ id, patch: patchOf(sent) }, origin);
      return { location: consumerPath(id), notice: `The ${setting} was saved.` };
    },
  });

const setState = (below: string, state: 'active' | 'disabled', notice: string) =>
  action({
    path: consumerPath(':id', below),
    ...ofConsumer,
    run: async ({ access }, { params: { id }, origin }) => {
      await access.consumers.update({ id, patch: { state } }, origin);
      return { location: consumerPath(id), notice };
    },
  });

/** Done without a question, from the page of the consumer; each goes through the same use case as the API. */
export const consumerSettings = [
  saveGrants,
  saveSetting('name', z.object({ name }), (form) => form),
  saveSetting('limit', z.object({ limitPerMinute }), (form) => ({
    limitPerMinute: form.limitPerMinute ?? null,
  })),
  setState('enable', 'active', 'The consumer is enabled: its keys work again.'),
  setState('disable', 'disabled', 'The consumer is disabled.'),
];
