import { LABEL_CHARACTERS_MAX, LABELS_MAX } from '#shared/label.ts';
import { isLongerThan } from '#shared/text/visible.ts';
import { z } from 'zod';
import type { LeadListQuery } from '#leads/reading/prepared-query.ts';
import { splitLabels } from '#leads/model/labels.ts';
import { pageParameters, sinceParameter } from '../../requests/parameters.ts';

const labelQuery = z.preprocess(
  (given) => (typeof given === 'string' ? [given] : given),
  z
    .array(z.string().meta({ maxLength: LABELS_MAX * (LABEL_CHARACTERS_MAX + 1) }))
    .max(LABELS_MAX, `must name at most ${LABELS_MAX} labels`)
    .superRefine((given, context) => {
      const names = given.flatMap((text) => text.split(',')).map((name) => name.trim());
      if (names.includes(''))
        context.addIssue({ code: 'custom', message: 'must not name an empty label' });
      if (names.some((name) => isLongerThan(name, LABEL_CHARACTERS_MAX)))
        context.addIssue({
          code: 'custom',
          message: `must name no label of more than ${LABEL_CHARACTERS_MAX} characters`,
          params: { code: 'out-of-range' },
        });
    })
    .transform(splitLabels)
    .refine((labels) => labels.length <= LABELS_MAX, `must name at most ${LABELS_MAX} labels`)
    .meta({
      description:
        'A label name, in any case. Repeated or comma-separated, a lead must carry all of them.',
    }),
);

const leadListParameters = z.strictObject({
  ...pageParameters,
  since: sinceParameter.exactOptional().meta({
    description:
      'Only leads updated at or after this instant, longest unchanged first. An RFC 3339 date-time with a zone, or a date in UTC.',
  }),
  state: z
    .enum(['open', 'closed', 'all'], 'must be one of `open`, `closed`, `all`')
    .exactOptional()
    .meta({
      default: 'open',
      description: 'Ask for `all` with `since`, else a lead that closes goes unseen.',
    }),
  label: labelQuery.optional(),
});

/** The query of the lead list; its result is the same frozen object for the same query text. */
export const leadListQuery = leadListParameters.transform(
  ({ limit, state, label, since, cursor }): LeadListQuery =>
    Object.freeze({
      limit,
      ...(state !== undefined && { state }),
      labels: label ?? [],
      ...(since !== undefined && { since }),
      ...(cursor !== undefined && { cursor }),
    }),
);
