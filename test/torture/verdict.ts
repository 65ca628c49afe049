import { existsSync, readFileSync } from 'node:fs';
import { openDatabase } from '#adapters/sqlite/database.ts';
import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { createReceiptStore } from '#adapters/sqlite/receipt/receipt-store.ts';
import { createClaimStore } from '#adapters/sqlite/claims/claim-store.ts';
import { hashIdentity } from '#leads/directory/lead-directory.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { commentMarker, REDACTED_BODY, REDACTED_TITLE } from '#partners/deletions/deletion.ts';
import { identitiesOf } from './people.ts';
import type { Acknowledged } from './people.ts';
import { SECRET_KEY } from './run.ts';
import type { RemoteTracker } from './service.ts';
import { findLeads, REPOSITORY } from '../support/directory.ts';

/** The store of a service, seen from another process. Dispose it after use. */
export function openFindings(file: string) {
  const database = openDatabase({ path: file });
  const payloadKey = Buffer.alloc(32); // nothing is decrypted here
  const receipts = createReceiptStore({ database, payloadKey, repository: REPOSITORY });
  const count = database.handle
    .prepare<[], number>("SELECT count(*) FROM event WHERE outcome = 'PENDING'")
    .pluck();
  return {
    receipts,
    directory: createLeadDirectory(database, { repository: 'acme/leads' }),
    findLeads: (hash: Buffer) => findLeads(database, hash),
    claims: createClaimStore(database, { repository: 'acme/leads' }),
    open: () => count.get() ?? 0,
    replayDeadLetters: () =>
      receipts.replayAll(
        { outcome: 'FAILED' },
        {
          at: Date.now(),
          actor: { kind: 'cli', subject: 'torture' },
          action: 'receipt.replay',
          subject: 'receipts',
        },
      ),
    [Symbol.dispose]: () => database.close(),
  };
}

type Issue = {
  number: number;
  title: string;
  body: string;
  state: string;
  updatedAt: number;
  labels: { name: string }[];
  comments: { body: string }[];
};

type Evidence = {
  tracker: RemoteTracker;
  acknowledged: readonly Acknowledged[];
  bystanders: readonly { number: number }[];
  database: string;
  output: string;
};

/** Everything that is not as it was promised. */
export async function findViolations(evidence: Evidence): Promise<string[]> {
  const issues = new Map(
    (await evidence.tracker.list<Issue>('issues')).map((issue) => [issue.number, issue]),
  );
  const violations: string[] = [];
  for (const before of evidence.bystanders)
    if (JSON.stringify(issues.get(before.number)) !== JSON.stringify(before))
      violations.push(`issue ${before.number} was touched though nobody deleted it`);
  using findings = openFindings(evidence.database);
  const claims = await findings.claims.current();
  for (const one of evidence.acknowledged) {
    const receipt = await findings.receipts.read(one.receiptId);
    if (!receipt) violations.push(`receipt ${one.receiptId} was acknowledged and is lost`);
    else if (receipt.events.some(({ outcome }) => outcome !== 'DONE'))
      violations.push(`receipt ${one.receiptId} ended ${JSON.stringify(receipt.events)}`);
    for (const number of one.numbers) {
      if (!claims.has(number)) violations.push(`lead ${number} is not claimed`);
      violations.push(
        ...faultsOf(one, issues.get(number)).map(
          (fault) => `issue ${number} ${fault}, says ${JSON.stringify(receipt?.events)}`,
        ),
      );
    }
  }
  violations.push(...forgottenIdentities(evidence, findings.findLeads));
  return [...violations, ...traces(evidence)];
}

/** Leads that a later deletion by an identity that they once had would not find. */
function forgottenIdentities(
  { acknowledged }: Evidence,
  find: (hash: Buffer) => readonly number[],
): string[] {
  const key = deriveKey(SECRET_KEY, 'directory');
  const forgotten: string[] = [];
  for (const { person, numbers, wasEdited } of acknowledged)
    for (const identity of identitiesOf(person, wasEdited)) {
      const found = find(hashIdentity(key, identity));
      const lost = numbers.filter((number) => !found.includes(number));
      const others = found.filter((number) => !numbers.includes(number));
      if (lost.length > 0)
        forgotten.push(`leads ${lost.join()} are not known by ${identity.value} (${person.edit})`);
      if (others.length > 0)
        forgotten.push(`leads ${others.join()} are known by ${identity.value}, who is another`);
    }
  return forgotten;
}

function faultsOf({ person, receiptId }: Acknowledged, issue: Issue | undefined): string[] {
  const faults: string[] = [];
  const check = (holds: boolean, fault: string): void => {
    if (!holds) faults.push(fault);
  };
  if (person.partner === 'crm-three') {
    check(issue === undefined, 'was not deleted');
    return faults;
  }
  if (!issue) return ['is gone'];
  const labels = issue.labels.map(({ name }) => name).sort();
  check(issue.state === 'closed', 'is open');
  check(labels.join() === 'deleted-by-partner,eu', `carries ${labels.join()}`);
  const comments = issue.comments.filter(({ body }) => body.includes(commentMarker(receiptId)));
  check(comments.length === 1, `has ${comments.length} comments of receipt ${receiptId}`);
  check(issue.comments.length <= (person.privacy ? 2 : 1), `has ${issue.comments.length} comments`);
  if (person.privacy)
    check(issue.title === REDACTED_TITLE && issue.body === REDACTED_BODY, 'was not redacted');
  return faults;
}

/** Personal data of deleted people, where it must not be. */
function traces({ database, output }: Evidence): string[] {
  const found: string[] = [];
  const personal = ['@tortured.example', 'Tortured Ada', 'Please call'];
  for (const file of [database, `${database}-wal`].filter((name) => existsSync(name))) {
    const bytes = readFileSync(file);
    for (const text of personal)
      if (bytes.includes(text)) found.push(`"${text}" is in the store's files`);
  }
  for (const text of personal) if (output.includes(text)) found.push(`"${text}" is in the log`);
  return found;
}
