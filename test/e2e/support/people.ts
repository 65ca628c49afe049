import type { Tracker } from '#sandbox/tracker/tracker-api.ts';
import { leadBody } from './world.ts';

/** Made-up people, no word of whom may stand in a log or an error. */
export const people = [
  {
    firstName: 'Quillonia',
    email: 'quillonia.vex@mailbox.test',
    company: 'Vexatron Ltd',
    message: 'Ring me after the zebra crossing opens.',
  },
  {
    firstName: 'Borkmund',
    email: 'borkmund@elsewhere.test',
    company: 'Grumbleworks',
    message: 'I prefer letters to calls.',
  },
] as const;

/** Everything of them that can be searched for. */
export const personalTexts: readonly string[] = people.flatMap((person) => Object.values(person));

export type Person = (typeof people)[number];

/** Body that the issue form makes of a person's answers. */
export const bodyOf = ({ email, message, ...person }: Person): string =>
  leadBody(email, message, person);

/** An approved lead of each person; answers their issue numbers. */
export function seedPeople(tracker: Tracker): number[] {
  return people.map(
    (person) =>
      tracker.createIssue({
        title: `From ${person.firstName}`,
        body: bodyOf(person),
        labels: ['approved'],
      }).number,
  );
}
