import { readReceipt } from '#partners/receipts/read-receipts.ts';
import { hashIdentity } from '#leads/directory/lead-directory.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { commentMarker, REDACTED_BODY, REDACTED_TITLE } from '#partners/worker/act/issue-edit.ts';
import { type Certificates, overstatementsOf } from './certificates.ts';
import type { Findings } from './findings.ts';
import { type Acknowledged, identitiesOf } from './people.ts';
import { SECRET_KEY } from './run.ts';
import type { RemoteTracker } from './service.ts';
import type { TortureStore } from './store.ts';

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
  flood: readonly string[];
  bystanders: readonly { number: number }[];
  store: TortureStore;
  certificates: Certificates;
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
  await using findings = evidence.store.openFindings();
  const claims = await findings.claims();
  for (const one of evidence.acknowledged) {
    const receipt = await readReceipt(findings.db, one.receiptId);
    if (!receipt) violations.push(`receipt ${one.receiptId} was acknowledged and is lost`);
    else if (receipt.events.some(({ outcome }) => outcome !== 'DONE'))
      violations.push(`receipt ${one.receiptId} ended ${JSON.stringify(receipt.events)}`);
    violations.push(...overstatementsOf(one, evidence.certificates, issues));
    for (const number of one.numbers) {
      if (!claims.has(number)) violations.push(`lead ${number} is not claimed`);
      violations.push(
        ...faultsOf(one, issues.get(number)).map(
          (fault) => `issue ${number} ${fault}, says ${JSON.stringify(receipt?.events)}`,
        ),
      );
    }
  }
  for (const id of evidence.flood) {
    const receipt = await readReceipt(findings.db, id);
    if (receipt?.events.every(({ outcome }) => outcome === 'DONE') !== true)
      violations.push(`events of receipt ${id} ended ${JSON.stringify(receipt?.events)}`);
  }
  violations.push(...(await forgottenIdentities(evidence, findings)));
  return [...violations, ...(await traces(evidence))];
}

/** Leads that a later deletion by an identity that they once had would not find. */
async function forgottenIdentities(
  { acknowledged }: Evidence,
  { findLeads }: Pick<Findings, 'findLeads'>,
): Promise<string[]> {
  const key = deriveKey(SECRET_KEY, 'directory');
  const forgotten: string[] = [];
  for (const { person, numbers, wasEdited } of acknowledged)
    for (const identity of identitiesOf(person, wasEdited)) {
      const found = await findLeads(hashIdentity(key, identity));
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
async function traces({ store, output }: Evidence): Promise<string[]> {
  const personal = ['@tortured.example', 'Tortured Ada', 'Please call'];
  const kept = await store.find(personal);
  const logged = personal.filter((text) => output.includes(text));
  return [
    ...kept.map((text) => `"${text}" is in the store`),
    ...logged.map((text) => `"${text}" is in the log`),
  ];
}
