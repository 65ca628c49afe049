import { activeKeys } from '#access/consumers/find-consumers.ts';
import type { Consumer, Key } from '#access/consumers/consumer.ts';
import type { FormProblem } from '../../page.ts';
import type { PortalPerson } from '../../person.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { input, select } from '../../shell/fields.ts';
import { confirmation } from '../../shell/forms.ts';
import { errorSummary, problemOf, remark } from '../../shell/notice.ts';
import { code, foreign } from '../../shell/parts.ts';
import { agoText, timeText } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import { LIFETIMES, OVERLAPS } from './forms.ts';
import { consumerPath } from './query.ts';

export type ConfirmFacts = {
  consumer: Consumer;
  person: PortalPerson;
  problems?: readonly FormProblem[];
};

/** Asks for the name of the consumer before all of its keys end for good. */
export function revokeConsumerView(given: ConfirmFacts, reader: Reader): Html {
  const { consumer, person, problems = [] } = given;
  const { id, name, keys } = consumer;
  return html`${summaryOf('Not revoked', problems)}${confirmation({
    action: consumerPath(id, 'revoke'),
    person,
    warning: useWarning(keys, reader),
    consequences: [
      'Every call with any of its keys is refused from now on.',
      'It stays in this list and in the audit, revoked.',
      'This cannot be undone. Disabling can.',
    ],
    fields: [typedField('Type the name of the consumer', name, problems)],
    submit: 'Revoke consumer',
    danger: true,
    cancel: { href: consumerPath(id), text: 'Keep it' },
  })}`;
}

/** Asks for the key's id before it ends for good. */
export function revokeKeyView(given: ConfirmFacts & { key: Key }, reader: Reader): Html {
  const { consumer, person, key, problems = [] } = given;
  return html`${summaryOf('Not revoked', problems)}${confirmation({
    action: consumerPath(consumer.id, 'keys', key.keyId, 'revoke'),
    person,
    warning: useWarning([key], reader),
    consequences: [
      html`Every call with the key ${code(key.keyId)} is refused from now on.`,
      othersOf(consumer, key, reader),
      'This cannot be undone. To replace a key without a gap, rotate it.',
    ],
    fields: [typedField('Type the id of the key', key.keyId, problems)],
    submit: 'Revoke key',
    danger: true,
    cancel: { href: consumerPath(consumer.id), text: 'Keep it' },
  })}`;
}

function othersOf(consumer: Consumer, key: Key, { nowMs }: Reader): string {
  const others = activeKeys(consumer, nowMs).filter(({ keyId }) => keyId !== key.keyId).length;
  if (others === 0) return 'It is the only key that works: nobody can read as this consumer then.';
  return others === 1 ? 'The other key goes on.' : `The ${others} other keys go on.`;
}

/** Asks how long the old key goes on beside the new one. */
export function rotateKeyView(given: ConfirmFacts & { key: Key }, reader: Reader): Html {
  const { consumer, person, key, problems = [] } = given;
  const end = key.expiresAt;
  return html`${summaryOf('Not rotated', problems)}${confirmation({
    action: consumerPath(consumer.id, 'keys', key.keyId, 'rotate'),
    person,
    isDoneOnce: true,
    consequences: [
      html`A new key is made. ${code(key.keyId)} goes on beside it for the time that you choose.`,
      'The new key is shown once, on the next page. Bring it to its consumer within that time.',
      ...(end === undefined
        ? []
        : [
            `The old key never works longer than it would have: ${timeText(end, reader, 'minute')}.`,
          ]),
    ],
    fields: [
      select({
        name: 'overlap',
        label: 'The old key stays good',
        choices: OVERLAPS,
        error: problemOf(problems, 'overlap'),
      }),
    ],
    submit: 'Rotate key',
    cancel: { href: consumerPath(consumer.id), text: 'Cancel' },
  })}`;
}

/** Asks how long one more key works. */
export function newKeyView({ consumer, person, problems = [] }: ConfirmFacts): Html {
  return html`${summaryOf('No key was made', problems)}${confirmation({
    action: consumerPath(consumer.id, 'keys', 'new'),
    person,
    isDoneOnce: true,
    consequences: [
      'One more key works beside those that there are, with the same grants.',
      'It is shown once, on the next page. To replace a key, rotate it instead.',
    ],
    fields: [
      select({
        name: 'lifetime',
        label: 'It works',
        choices: LIFETIMES,
        error: problemOf(problems, 'lifetime'),
      }),
    ],
    submit: 'Make key',
    cancel: { href: consumerPath(consumer.id), text: 'Cancel' },
  })}`;
}

function summaryOf(heading: string, problems: readonly FormProblem[]): Html | undefined {
  return problems.length > 0 ? errorSummary({ heading, problems }) : undefined;
}

function typedField(what: string, value: string, problems: readonly FormProblem[]): Html {
  return input({
    name: 'typed',
    label: html`${what}: ${foreign(value)}`,
    error: problemOf(problems, 'typed'),
  });
}

/** Who is hit. */
function useWarning(keys: readonly Key[], reader: Reader): Html {
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return uses.length === 0
    ? remark('ok', 'Never used')
    : remark(
        'warn',
        `Last used ${agoText(Math.max(...uses), reader)}`,
        'Whoever reads with it will be refused.',
      );
}
