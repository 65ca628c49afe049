import { type EventErrorCode, eventErrors, type NameKind } from '#partners/receipts/receipt.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { foreign } from '../../shell/parts.ts';

type Remedy = {
  /** What to do, as a heading. */
  step: string;
  /** Working it again is of no use, or harm, before something else was done. */
  isLastResort?: boolean;
};

const wellAgain: Remedy = { step: 'Replay once the tracker is well' };
const lookFirst: Remedy = { step: 'Look at the issue, then replay' };
const byHand: Remedy = { step: 'Act on the issue by hand', isLastResort: true };
const mayWrite: Remedy = {
  step: 'Give the credential the right to write issues and labels, then replay',
};

const remedies: Readonly<Record<EventErrorCode, Remedy>> = {
  'not-an-object': { step: 'Nothing here: the partner has to send it well', isLastResort: true },
  'names-nobody': {
    step: 'Nothing here: the partner has to say whom it means',
    isLastResort: true,
  },
  'too-many-ids': { step: 'Nothing here: the partner has to merge in steps', isLastResort: true },
  'lead-claimed': { step: 'Nothing: a deleted lead is left alone', isLastResort: true },
  'claim-released': { step: 'Nothing, unless the release was wrong: then replay' },
  'partner-unknown': {
    step: 'Put the partner into the file (enabled: false is enough) and send SIGHUP',
  },
  'payload-unreadable': { step: 'Put the old secretKey back and replay, or have it sent again' },
  'repository-changed': { step: 'Name the old repository again and replay, or act there by hand' },
  transferred: { step: 'Act in the repository where the issue is now', isLastResort: true },
  'pull-request': { step: 'Ask the partner which lead it means', isLastResort: true },
  'no-issue': { step: 'Ask the partner which lead it means', isLastResort: true },
  locked: { step: 'Unlock the issue, then replay' },
  'too-many-comments': byHand,
  refused: { step: 'See that the deleted label exists (doctor --fix), then replay' },
  forbidden: mayWrite,
  unauthorized: { step: 'Renew the credential of the tracker, then replay' },
  'repository-missing': { step: 'Check the repository’s name and the credential, then replay' },
  'issues-disabled': { step: 'Switch issues on again, then replay' },
  'not-found': lookFirst,
  'not-applied': lookFirst,
  'labels-dropped': mayWrite,
  'delete-refused': { step: 'Check that tracker.adminToken may delete issues, then replay' },
  'not-deleted': lookFirst,
  'tracker-limited': wellAgain,
  'tracker-timeout': wellAgain,
  'tracker-network': wellAgain,
  'tracker-server': wellAgain,
  'tracker-nonsense': wellAgain,
  'tracker-invalid': wellAgain,
  server: wellAgain,
  'internal-error': { step: 'Report it; replay with a version that mends it' },
};

/** What a code means, as a sentence, and what to do. One that is not known yet reads as that. */
export function remedyOf(code: string): Remedy & { means: string } {
  if (!isKnown(code)) return { means: 'Its meaning is not known here', step: 'Look at the issue' };
  const words = eventErrors[code];
  return {
    ...remedies[code],
    means: `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replaceAll('`', ''),
  };
}

const NAMES: Readonly<Record<NameKind, string>> = {
  'lead-id': 'lead number',
  'correlation-id': 'correlation id',
  'external-id': 'external id',
  email: 'e-mail',
};

/** `lead number, e-mail`. */
export function nameWords(names: readonly NameKind[]): string {
  return names.map((name) => NAMES[name]).join(', ');
}

type Unmatched = { names: readonly NameKind[]; lastError?: string };

/** What to look at where an event found nobody, by what it looked for. */
export function adviceFor({ names, lastError }: Unmatched, partnerId: string): Html {
  const key = html`<code>externalIds.<wbr />${foreign(partnerId, 60)}</code>`;
  const steps: Readonly<Record<NameKind, HtmlValue>> = {
    'lead-id': 'Ask the partner which lead number it means.',
    'correlation-id': 'See that the portal writes the correlation id into the leads’ metadata.',
    'external-id': html`See that the partner’s id stands in the leads’ metadata, as ${key}.`,
    email: 'Ask the partner for another e-mail of the person: no lead ever had this one.',
  };
  if (lastError !== undefined) {
    const { means, step } = remedyOf(lastError);
    return html`${means}. ${step}.`;
  }
  const given = names.length > 0 ? names : (['external-id'] as const);
  return html`${given.map((name, at) => html`${at > 0 && ' '}${steps[name]}`)}`;
}

function isKnown(code: string): code is EventErrorCode {
  return Object.hasOwn(eventErrors, code);
}
