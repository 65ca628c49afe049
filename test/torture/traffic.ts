import { setTimeout as sleep } from 'node:timers/promises';
import { editBody, NOTE, takesAway } from './edits.ts';
import { lookPatiently } from './look.ts';
import { deletionsOf, issueOf, type PartnerId, type Person, personAt, signed } from './people.ts';
import type { Reader } from './reader.ts';
import { type Run, someInstance } from './run.ts';

const SEEN_TRIES = 100;
const SEEN_EVERY_MS = 50;
const BODY_CHARACTERS_MAX = 5000;
const COPIED_AFTER_MS = 1500;

/** One partner: makes a lead, that somebody edits, deletes its person, and sends until it is acknowledged. */
export async function sendDeletions(run: Run): Promise<void> {
  const { tracker, random, report, acknowledged } = run;
  while (!run.isOver()) {
    const index = report.people;
    report.people += 1;
    const person = personAt(index);
    const numbers: number[] = [];
    for (let lead = 0; lead < person.leads; lead += 1)
      numbers.push(
        (await tracker.control<{ number: number }>('createIssue', issueOf(person))).number,
      );
    const wasEdited = await editLeads(run, person, numbers);
    const wereSeen = random() < 0.5 && (await untilSeen(run, numbers));
    if (wereSeen && index % 2 === 0) await unapprove(run, numbers);
    for (const body of deletionsOf(person, wasEdited)) {
      const receiptId = await sendUntilAcknowledged(run, person.partner, body, 'deletions');
      if (wereSeen && person.edit !== 'corrected-email') await expectClaimed(run, numbers);
      acknowledged.push({ receiptId, person, numbers, wasEdited });
      report.acknowledged += 1;
      if (random() < 0.2) {
        report.repeats += 1;
        const again = await sendUntilAcknowledged(run, person.partner, body, 'deletions');
        if (again !== receiptId) report.violations.push(`a repeat got another receipt: ${again}`);
      }
    }
    await sleep(50 + random() * 100);
  }
}

/** Once the tool has had time to copy them: the feed tells it to take them out. */
async function unapprove({ tracker, report }: Run, numbers: readonly number[]): Promise<void> {
  await sleep(COPIED_AFTER_MS);
  for (const number of numbers) await tracker.control('relabel', number, { remove: ['approved'] });
  report.unapproved += numbers.length;
}

/** Does a salesperson's edit before the deletion comes. False when there was nothing to do, or no time. */
async function editLeads(run: Run, person: Person, numbers: readonly number[]): Promise<boolean> {
  const { edit } = person;
  if (edit === 'nothing') return false;
  if (takesAway(edit) && !(await untilSeen(run, numbers))) return false;
  for (const number of numbers) await editLead(run, number, (body) => editBody(body, edit, person));
  return true;
}

/** Waits until the directory knows the leads, by the next catch-up or the tracker's webhook. */
async function untilSeen(run: Run, numbers: readonly number[]): Promise<boolean> {
  for (let tries = 0; tries < SEEN_TRIES; tries += 1) {
    const known = await lookPatiently(run, (findings) =>
      Promise.all(numbers.map((number) => findings.knows(number))),
    );
    if (known.every(Boolean)) return true;
    await sleep(SEEN_EVERY_MS);
  }
  return false;
}

/** Leads that the directory knew before are claimed in the transaction that accepts the deletion. */
async function expectClaimed(run: Run, numbers: readonly number[]): Promise<void> {
  const claims = await lookPatiently(run, (findings) => findings.claims());
  for (const number of numbers)
    if (!claims.has(number)) run.report.violations.push(`202 did not claim the lead ${number}`);
}

async function editLead(run: Run, number: number, edit: (body: string) => string): Promise<void> {
  const issue = await run.tracker.control<{ body: string | null } | null>('readIssue', number);
  if (!issue) return;
  await run.tracker.control('editIssue', number, { body: edit(issue.body ?? '') });
  run.report.edits += 1;
}

/** Salespeople who write on while deletions are under way, and after them. */
export async function keepEditing(run: Run): Promise<void> {
  while (!run.isOver()) {
    const deleted = run.acknowledged.filter(({ person }) => !person.privacy);
    const some = deleted[Math.floor(run.random() * deleted.length)];
    for (const number of some?.numbers ?? [])
      // It may be deleted meanwhile.
      await editLead(run, number, withNote).catch(() => undefined);
    await sleep(100);
  }
}

function withNote(body: string): string {
  return body.length < BODY_CHARACTERS_MAX ? `${body}\n${NOTE}` : body;
}

/** Reads all leads from one instance after the other. */
export async function keepReading(run: Run, reader: Reader): Promise<void> {
  while (!run.isOver()) {
    await reader.read(someInstance(run).url);
    await sleep(100);
  }
}

/** Bounds the number of deletions, in all and a second: the rest at the end is to be done within minutes. */
const FLOOD_LEADS = 60;
const FLOOD_BATCH = 10;
const FLOOD_EVERY_MS = 1000;
const FLOOD_EVENTS_MAX = 2000;

/** A partner whose events change leads that nobody deletes: at the tracker all deletions go before them. */
export async function floodWithEvents(run: Run): Promise<void> {
  const { tracker, report } = run;
  const numbers: number[] = [];
  for (let index = 0; index < FLOOD_LEADS; index += 1) {
    const lead = { email: `flooded-${index}@tortured.example`, objectId: `flooded-${index}` };
    numbers.push((await tracker.control<{ number: number }>('createIssue', issueOf(lead))).number);
  }
  const { partner } = personAt(0);
  while (!run.isOver() && report.events < FLOOD_EVENTS_MAX) {
    const events = Array.from({ length: FLOOD_BATCH }, (_, place) => ({
      eventType: place % 2 === 0 ? 'noted' : 'forgotten',
      eventId: `flood-${report.events + place}`,
      leadId: String(numbers[(report.events + place) % FLOOD_LEADS]),
    }));
    run.flood.push(await sendUntilAcknowledged(run, partner, events, 'events'));
    report.events += FLOOD_BATCH;
    await sleep(FLOOD_EVERY_MS);
  }
}

async function sendUntilAcknowledged(
  run: Run,
  partner: PartnerId,
  body: object,
  kind: 'deletions' | 'events',
): Promise<string> {
  const path = `/api/v1/webhooks/partners/${partner}/${kind}`;
  const text = JSON.stringify(body);
  for (;;) {
    run.report.sent += 1;
    try {
      const headers = signed(partner, `${run.publicUrl}${path}`, text);
      const address = `${someInstance(run, partner).url}${path}`;
      const answer = await fetch(address, { method: 'POST', headers, body: text });
      const receipt = (await answer.json()) as { id: string };
      if (answer.status === 202) {
        run.addresses.set(receipt.id, new URL(answer.headers.get('location') ?? '').pathname);
        return receipt.id;
      }
      if (answer.status !== 503)
        run.report.violations.push(`what was signed (${kind}) was answered ${answer.status}`);
    } catch {
      // killed: the partner sends it again
    }
    await sleep(50);
  }
}
