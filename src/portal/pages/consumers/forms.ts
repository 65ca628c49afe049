import { z } from 'zod';
import { LIMIT_PER_MINUTE_MAX, NAME_CHARACTERS_MAX } from '#access/consumers/consumer.ts';
import {
  type Grant,
  type GrantInput,
  grantOf,
  isWorkspace,
  WORKSPACE_RULE,
} from '#access/grant.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { sha256Hex } from '#shared/crypto/hash.ts';
import type { Choice } from '../../shell/fields.ts';

const labels = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((sent) => toLabels(sent));

const visibility = {
  sees: z.enum(['all', 'labels', 'nothing'], 'Choose what it sees.'),
  label: labels,
  workspace: z
    .string()
    .trim()
    .refine((text) => text === '' || isWorkspace(text), WORKSPACE_RULE)
    .default(''),
};

/** What was chosen in a form that came back, right or wrong; nothing is chosen before that. */
export const typedVisibility = z.object({
  sees: visibility.sees.catch('all'),
  label: labels,
  workspace: z.string().catch(''),
});

const valuesOf = (choices: readonly Choice[]) => choices.map(({ value }) => value);

/** How long a new key works, in days. */
export const LIFETIMES: readonly Choice[] = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'for ever' },
];
export const LIFETIME_DEFAULT = '90';

const lifetime = z
  .enum(valuesOf(LIFETIMES), 'Choose how long the key works.')
  .transform((days) => (days === '' ? undefined : Number(days) * DAY));

/** How long the old key works beside the new one, in hours. */
export const OVERLAPS: readonly Choice[] = [
  { value: '0', label: 'not at all: the old key ends now' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
];
export const OVERLAP_DEFAULT = '24';

const limitPerMinute = z
  .string()
  .trim()
  .regex(/^\d{0,7}$/, `Calls per minute are a whole number from 1 to ${LIMIT_PER_MINUTE_MAX}.`)
  .transform((digits) => (digits === '' ? undefined : Number(digits)));

const name = z
  .string('Give it a name.')
  .trim()
  .min(1, 'Give it a name.')
  .max(NAME_CHARACTERS_MAX, `A name has at most ${NAME_CHARACTERS_MAX} characters.`);

export const newConsumerForm = z.object({ name, ...visibility, lifetime, limitPerMinute });
export const grantsForm = z.object({ ...visibility, seen: z.string() });
export const keyForm = z.object({ lifetime });
export const limitForm = z.object({ limitPerMinute });
export const nameForm = z.object({ name });
export const rotateForm = z.object({
  overlap: z
    .enum(valuesOf(OVERLAPS), 'Choose how long the old key stays good.')
    .transform((hours) => Number(hours) * HOUR),
});

/**
 * The labels of a field as it was sent, each once. Boxes: none sends nothing, one a text, several a
 * list. A text area: a name on each line.
 */
function toLabels(sent: string | readonly string[] | undefined): string[] {
  const lines = [sent ?? []].flat().flatMap((text) => text.split('\n'));
  return [...new Set(lines.map((line) => line.trim()))].filter((line) => line !== '');
}

/** Grants as the use case takes them. */
export function toGrants({ sees, label, workspace }: Visibility): GrantInput[] {
  return [
    ...(workspace === '' ? [] : [{ action: 'catalog:read', workspace }]),
    ...(sees === 'nothing'
      ? []
      : [{ action: 'leads:read', ...(sees === 'labels' && { labels: label }) }]),
  ];
}

export type Visibility = {
  sees: 'all' | 'labels' | 'nothing';
  label: readonly string[];
  /** Whose catalog it reads; empty: no one's. */
  workspace: string;
};

/** What grants look like in the form. */
export function toVisibility(grants: readonly Grant[]): Visibility {
  const leads = grantOf(grants, 'leads:read');
  const label = leads?.labels ?? [];
  const seesSome = label.length > 0 ? 'labels' : 'all';
  const workspace = grantOf(grants, 'catalog:read')?.workspace ?? '';
  return { sees: leads === undefined ? 'nothing' : seesSome, label, workspace };
}

/** Stands for grants in a form, so that two people do not undo each other's change. */
export function grantsDigest(grants: readonly Grant[]): string {
  return sha256Hex(JSON.stringify(grants)).slice(0, 16);
}
