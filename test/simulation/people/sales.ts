import type { World } from '../world/world.ts';

const NOTE = '\n\nCalled again, no answer.';

/** Goes on with the issues. */
export async function beSalesperson(world: World, acts: number, pauseMs: number): Promise<void> {
  for (let act = 0; act < acts && !world.isOver; act += 1) {
    await world.pause(world.random() * pauseMs);
    work(world);
  }
}

type Act = [share: number, name: string, act: (world: World, number: number) => void];

const ACTS: readonly Act[] = [
  [3, 'approves', ({ tracker }, number) => relabel(tracker, number, ['approved'], [])],
  [
    2,
    'takes the approval off',
    ({ tracker }, number) => relabel(tracker, number, [], ['approved']),
  ],
  [2, 'puts eu on', ({ tracker }, number) => relabel(tracker, number, ['eu'], [])],
  [2, 'takes eu off', ({ tracker }, number) => relabel(tracker, number, [], ['eu'])],
  [1, 'takes qualified off', ({ tracker }, number) => relabel(tracker, number, [], ['qualified'])],
  [3, 'gives eu to all or takes it from them, beginning with', relabelAll],
  [2, 'closes', ({ tracker }, number) => tracker.setState(number, 'closed')],
  [1, 'opens', ({ tracker }, number) => tracker.setState(number, 'open')],
  [
    4,
    'notes something in',
    ({ tracker }, number) => {
      const body = tracker.readIssue(number)?.body ?? '';
      if (body.length < 3000) tracker.editIssue(number, { body: body + NOTE });
    },
  ],
  [2, 'comments on', ({ tracker }, number) => tracker.addComment(number, 'Called.')],
  [1, 'deletes', ({ tracker }, number) => tracker.deleteIssue(number)],
  [0.7, 'transfers', ({ tracker }, number) => tracker.transferIssue(number, 'acme/elsewhere')],
  [
    0.5,
    'gives the label us another name, looking at',
    ({ tracker, model }) => {
      if (!model.wasRenamed) tracker.renameLabel('us', 'usa');
      model.wasRenamed = true;
    },
  ],
];
const SHARES = ACTS.reduce((sum, [share]) => sum + share, 0);

function relabel(
  tracker: World['tracker'],
  number: number,
  add: readonly string[],
  remove: readonly string[],
): void {
  const issue = tracker.readIssue(number);
  const has = new Set(issue?.labels.map(({ name }) => name));
  tracker.relabel(number, { add: add.filter((name) => !has.has(name)), remove });
}

/** In one second, as by a filter and a tick at the tracker. */
function relabelAll({ tracker, random }: World, first: number): void {
  const isOn = random() < 0.5;
  for (const { number } of tracker.issues())
    if (number >= first) relabel(tracker, number, isOn ? ['eu'] : [], isOn ? [] : ['eu']);
}

function work(world: World): void {
  const issue = world.pick(world.tracker.issues());
  if (!issue) return;
  let draw = world.random() * SHARES;
  for (const [share, name, act] of ACTS) {
    draw -= share;
    if (draw > 0) continue;
    world.tell(`a salesperson ${name} #${issue.number}`);
    return act(world, issue.number);
  }
}
