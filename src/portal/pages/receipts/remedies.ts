import type { EventErrorCode } from '#partners/receipts/event-error.ts';
import { eventErrors } from '#partners/receipts/event-error.ts';

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
  'claim-released': { step: 'Nothing, unless the release was wrong: then replay' },
  'partner-unknown': {
    step: 'Put the partner into the file (enabled: false is enough) and send SIGHUP',
  },
  'payload-unreadable': { step: 'Put the old secretKey back and replay, or have it sent again' },
  'repository-changed': { step: 'Name the old repository again and replay, or act there by hand' },
  transferred: { step: 'Act in the repository where the issue is now', isLastResort: true },
  'pull-request': { step: 'Ask the partner: the number is no lead', isLastResort: true },
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

function isKnown(code: string): code is EventErrorCode {
  return Object.hasOwn(eventErrors, code);
}
