import type { AuditEntryOut } from '#access/audit/audit-out.ts';
import { activeKeys } from '#access/consumers/find-consumers.ts';
import type { Consumer } from '#access/consumers/consumer.ts';
import type { FormProblem } from '../../../page.ts';
import type { PortalPerson } from '../../../person.ts';
import { html } from '../../../html.ts';
import type { Html } from '../../../html.ts';
import { body, card, facts, row, split } from '../../../shell/card.ts';
import { input } from '../../../shell/fields.ts';
import { actionButton, button, postForm } from '../../../shell/forms.ts';
import { errorSummary, problemOf } from '../../../shell/notice.ts';
import { code, foreign, link } from '../../../shell/parts.ts';
import { table } from '../../../shell/table.ts';
import { count, time } from '../../../shell/times.ts';
import type { Reader } from '../../../shell/times.ts';
import type { Visibility } from '../forms.ts';
import { grantsCard } from './grants-card.ts';
import { keysCard } from './keys-card.ts';
import { consumerPath } from '../query.ts';
import { changesText } from '../../audit/changes-text.ts';
import { rotationCard } from './rotation-card.ts';
import type { KnownLabels } from '../visibility.ts';
import { expiryWords, grantWords, lastUsedWords } from '../words.ts';

export type ConsumerFacts = {
  consumer: Consumer;
  person: PortalPerson;
  labels: KnownLabels;
  /** The last changes, newest first. */
  entries: readonly AuditEntryOut[];
  defaultLimit: number;
  /** Of a form on this page that came back. */
  returned?: {
    heading: string;
    problems: readonly FormProblem[];
    chosen?: Visibility;
    seen?: string;
  };
};

const FIELDS = { label: 'Labels', sees: 'Sees', name: 'Name', limitPerMinute: 'Limit' };

/** What it may see, which keys work and until when, and what was done to it. */
export function consumerView(given: ConsumerFacts, reader: Reader): Html {
  const { consumer, returned } = given;
  const summary = returned && errorSummary({ ...returned, labels: FIELDS });
  const main = html`${keysCard(consumer, reader)} ${rotationCard(consumer, reader)}
  ${grantsCard({ ...given, ...returned })} ${auditCard(given, reader)}`;
  const beside = html`${aboutCard(given, reader)}
  ${consumer.state !== 'revoked' && html`${nameAndLimitCard(given)} ${shutOutCard(given)}`}`;
  return html`${summary}${split(main, beside)}`;
}

function auditCard({ consumer, entries }: ConsumerFacts, reader: Reader): Html {
  const all = `/portal/audit?on=${encodeURIComponent(`consumer/${consumer.id}`)}`;
  const names = {
    id: 'h-audit',
    heading: 'Audit',
    aside: link({ href: all, text: 'All changes' }),
  };
  if (entries.length === 0) return card(names, body(html`<p class="note">None.</p>`));
  return card(
    names,
    table<AuditEntryOut>({
      caption: 'Last changes, newest first',
      rows: entries,
      columns: [
        { label: 'When', kind: 'whole', cell: ({ at }) => time(Date.parse(at), reader) },
        { label: 'What', cell: ({ action, changes }) => html`${code(action)} ${details(changes)}` },
        { label: 'Who', cell: ({ actor }) => foreign(actor.subject, 60) },
      ],
    }),
  );
}

function details(changes: AuditEntryOut['changes']): Html | undefined {
  const { keyId, replacedBy } = changes ?? {};
  if (typeof keyId !== 'string') return changesText(changes);
  return typeof replacedBy === 'string' ? html`${code(keyId)} to ${code(replacedBy)}` : code(keyId);
}

function aboutCard({ consumer, defaultLimit }: ConsumerFacts, reader: Reader): Html {
  const { createdAt, grants, limitPerMinute } = consumer;
  const limit = `${count(limitPerMinute ?? defaultLimit)} calls a minute`;
  return card(
    { id: 'h-about', heading: 'About' },
    body(
      facts([
        { term: 'Created', value: time(createdAt, reader, 'day') },
        { term: 'May read', value: grantWords(grants) },
        { term: 'Active keys', value: count(activeKeys(consumer, reader.nowMs).length) },
        { term: 'Next expiry', value: expiryWords(consumer, reader) },
        { term: 'Last used', value: lastUsedWords(consumer, reader) },
        { term: 'Limit', value: limitPerMinute === undefined ? `${limit} (default)` : limit },
      ]),
    ),
  );
}

function nameAndLimitCard({ consumer, person, returned, defaultLimit }: ConsumerFacts): Html {
  const { id, name, limitPerMinute } = consumer;
  const problems = returned?.problems ?? [];
  const form = (below: string) => ({
    action: consumerPath(id, below),
    person,
    look: 'body' as const,
  });
  return card(
    { id: 'h-settings', heading: 'Name and limit' },
    postForm(
      form('name'),
      input({ name: 'name', label: 'Name', value: name, error: problemOf(problems, 'name') }),
      row(button('Save name')),
    ),
    postForm(
      form('limit'),
      input({
        name: 'limitPerMinute',
        label: 'Calls per minute',
        type: 'number',
        min: 1,
        value: limitPerMinute,
        placeholder: String(defaultLimit),
        note: `Empty: the default, ${count(defaultLimit)}. Each instance counts on its own.`,
        error: problemOf(problems, 'limitPerMinute'),
      }),
      row(button('Save limit')),
    ),
  );
}

function shutOutCard({ consumer, person }: ConsumerFacts): Html {
  const { id, state } = consumer;
  const toggle =
    state === 'disabled'
      ? actionButton({ action: consumerPath(id, 'enable'), person, text: 'Enable' })
      : actionButton({ action: consumerPath(id, 'disable'), person, text: 'Disable' });
  const revoke = link({
    href: consumerPath(id, 'revoke'),
    text: 'Revoke consumer…',
    look: 'button',
  });
  return card(
    { id: 'h-shut-out', heading: 'Shut out' },
    body(
      html`<p>
        Disabling refuses every call until you enable it again. Revoking takes the consumer and its
        keys away for good.
      </p>`,
      row(toggle, revoke),
    ),
  );
}
