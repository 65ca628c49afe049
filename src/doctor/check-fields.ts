import { type FieldDefinition, readFields } from '#adapters/github/repository.ts';
import type { RepositoryInspection } from '#adapters/github/inspection.ts';
import type { Config } from '#config/schema/schema.ts';
import { foldLabel } from '#shared/text/labels.ts';
import { failed, type Finding, ok, warning } from './finding.ts';
import { nearMiss } from '#shared/text/near-miss.ts';
import type { Tracker } from '#compose/tracker.ts';

type FieldRule = { name: string; partner: string; value: string | number | readonly string[] };

const SUBJECT = 'typed fields';

/**
 * Checks the typed fields that the configuration names, the values that rules set, and the right to write them.
 * @throws {TrackerFailure}
 */
export async function checkFields(
  config: Config,
  tracker: Tracker,
  { facts }: RepositoryInspection,
): Promise<Finding[]> {
  const { issueFields } = config.leads;
  const rules = rulesOf(config);
  const isApp = tracker.client.credentialKind === 'app';
  const isNamed = Object.keys(issueFields).length > 0;
  return [
    ...(isNamed ? await checkNames(issueFields, tracker, rules) : []),
    ...checkWriting(config, rules, isApp ? undefined : facts.mayPush),
  ];
}

async function checkNames(
  issueFields: Config['leads']['issueFields'],
  tracker: Tracker,
  rules: readonly FieldRule[],
): Promise<Finding[]> {
  const fields = await readFields(tracker);
  if (!fields) {
    const state = rules.length > 0 ? failed : warning;
    return [
      state(
        SUBJECT,
        'The tracker shows none of the owner: it is no organization, or the credential may not see them.',
        'Give the credential Issue Fields: read of the organization (a classic token read:org), or take leads.issueFields out.',
      ),
    ];
  }
  return Object.entries(issueFields).map(([name, field]) =>
    checkField(
      field,
      fields,
      rules.filter((rule) => rule.name === name),
    ),
  );
}

function checkField(
  name: string,
  fields: readonly FieldDefinition[],
  rules: readonly FieldRule[],
): Finding {
  const subject = `field ${name}`;
  const field = fields.find((one) => foldLabel(one.name) === foldLabel(name));
  if (!field) {
    const names = fields.map((one) => one.name);
    const meant = nearMiss(name, names);
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
    const known = names.length > 0 ? ` It has ${names.join(', ')}.` : '';
    const detail = `The tracker has no such field.${hint}${known}`;
    return failed(subject, detail, 'Correct leads.issueFields, or make the field.');
  }
  const wrong = rules.find(({ value }) => !fits(field, value));
  const options = field.options.length > 0 ? `: ${field.options.join(', ')}` : '';
  if (!wrong) return ok(subject, `Found, ${field.kind}${options}.`);
  return failed(
    subject,
    `A rule of ${wrong.partner} sets it to ${JSON.stringify(wrong.value)}, and it is ${field.kind}${options}.`,
    'Correct setFields; options are written exactly as the tracker has them.',
  );
}

function fits({ kind, options }: FieldDefinition, value: FieldRule['value']): boolean {
  switch (kind) {
    case 'number':
      return typeof value === 'number';
    case 'date':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value);
    case 'single_select':
      return typeof value === 'string' && options.includes(value);
    case 'multi_select':
      return typeof value === 'object' && value.every((name) => options.includes(name));
    default:
      return typeof value === 'string';
  }
}

/** Of an App nobody knows before it tries: what the tracker tells of its rights is that of a user. */
function checkWriting(
  { partners }: Config,
  rules: readonly FieldRule[],
  mayPush: boolean | undefined,
): Finding[] {
  if (mayPush !== false) return [];
  const fix = 'Give the credential the right to push (role Write).';
  if (rules.length > 0)
    return [failed(SUBJECT, 'The credential may not push, and so rules cannot set them.', fix)];
  const redacts = Object.values(partners).some(({ deletions: { actions = [], privacy } = {} }) =>
    [...actions, ...(privacy ?? (['redact'] as const))].includes('redact'),
  );
  const detail =
    'The credential may not push, and so redact cannot clear them where issues have any.';
  return redacts ? [warning(SUBJECT, detail, fix)] : [];
}

function rulesOf({ partners }: Config): FieldRule[] {
  return Object.entries(partners).flatMap(([partner, { events = [] }]) =>
    events.flatMap(({ setFields = {} }) =>
      Object.entries(setFields).map(([name, value]) => ({ name, partner, value })),
    ),
  );
}
