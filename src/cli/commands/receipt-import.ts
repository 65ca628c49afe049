import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import type {
  Forecast,
  ImportedDelivery,
  ImportedFile,
  ReceiptImporter,
} from '#partners/import/import-deliveries.ts';
import { type OpenFile, UnreadableText } from '#partners/import/read-texts.ts';
import { outcomes, partnerPaths } from '#partners/receipts/receipt.ts';
import { eventOutcomes } from '#shared/outcomes/events.ts';
import { isTrackportError, systemCodeOf } from '#shared/errors.ts';
import { CommandFailure, type Task, type Terminal, UsageError } from '../command.ts';
import { createProgress } from '../progress.ts';
import { withStore } from '../with-store.ts';
import { renderFacts } from '../table.ts';

type ImportOptions = { partner: string; path: string; dryRun?: true };

/** `receipt import FILE`: nothing is taken of a file that holds something that cannot be read. */
export async function importReceipts(task: Task<ImportOptions>): Promise<void> {
  const { openImporter } = await import('#compose/receipt-import.ts');
  const { config, clock } = task;
  await withStore(task, (store) => importBy(openImporter({ store, config, clock }), task), {
    mustExist: task.options.dryRun === true,
  });
}

async function importBy(importer: ReceiptImporter, task: Task<ImportOptions>): Promise<void> {
  const { terminal, clock, isJson, actor, args, options } = task;
  const file = { ...toOrigin(importer, options), open: openerOf(args[0] ?? '') };
  const onProgress = createProgress({ terminal, clock, isJson });
  const tally: Tally = { deliveries: 0, repeats: 0, outcomes: {}, queued: 0, undated: 0 };
  try {
    const deliveries = await importer.check(file, (done) => onProgress(done, 0, 'read'));
    const done = options.dryRun
      ? importer.preview(file)
      : importer.import(file, { deliveries, origin: { actor } });
    const list = createList(terminal, { isJson, isDryRun: options.dryRun === true });
    try {
      for await (const one of done) {
        addTo(tally, one);
        list.add(one);
        onProgress(tally.deliveries, deliveries, 'deliveries');
      }
    } finally {
      list.end(); // what was taken before a failure is one document, too
    }
  } catch (error) {
    throw explain(error, options.dryRun ? 0 : tally.deliveries);
  }
  if (!isJson) sumUp(terminal, tally, options);
}

function toOrigin(
  { partners }: ReceiptImporter,
  options: ImportOptions,
): Omit<ImportedFile, 'open'> {
  const path = partnerPaths.find((one) => one === options.path);
  if (!path) throw new UsageError(`--path is events or deletions, not "${options.path}"`);
  const partner = partners.find(({ id }) => id === options.partner);
  if (partner) return { partner, path };
  const ids = partners.map(({ id }) => id).join(', ');
  throw new UsageError(
    `--partner names one of the configuration (${ids || 'which has none'}), not "${options.partner}"`,
  );
}

/** Files that people have in place of JSON, by their first bytes. */
const OTHERS: readonly [signature: string, is: string][] = [
  ['1f8b', 'is compressed (gzip): unpack it first.'],
  ['504b0304', 'is a ZIP archive, or a sheet: unpack it, or export it as JSON.'],
  ['fffe', 'is UTF-16: save it as UTF-8.'],
  ['feff', 'is UTF-16: save it as UTF-8.'],
];

/** The file is read more than once: what cannot be is refused. @throws {UsageError} */
function openerOf(path: string): OpenFile {
  if (path === '-')
    throw new UsageError('The file is read twice, so it cannot be standard input: save it first.');
  const start = startOf(path).toString('hex');
  const other = OTHERS.find(([signature]) => start.startsWith(signature));
  if (other) throw new UsageError(`${path} ${other[1]}`);
  return () => createReadStream(path);
}

function startOf(path: string): Buffer {
  const start = Buffer.alloc(4);
  try {
    // Before it is opened: a pipe would be waited for.
    if (!statSync(path).isFile())
      throw new UsageError(`${path} is no file that can be read twice: save it as one first.`);
    const descriptor = openSync(path, 'r');
    readSync(descriptor, start, { position: 0 });
    closeSync(descriptor);
    return start;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read (${systemCodeOf(error)}).`);
  }
}

function explain(error: unknown, taken: number): unknown {
  const before =
    taken === 0
      ? 'Nothing was taken.'
      : `${taken} deliveries were taken before: import the file again, what was taken is a repeat then.`;
  if (error instanceof UnreadableText) {
    const form = 'A file is a JSON array with a delivery in each element, or has one in each line.';
    return new CommandFailure(`${error.message} ${taken === 0 ? `${form} ` : ''}${before}`);
  }
  if (!isTrackportError(error)) return error;
  return new CommandFailure(`${error.detail ?? error.code} ${before}`, { cause: error });
}

/** Prints one delivery after the other: a file may hold millions. */
function createList(
  terminal: Terminal,
  { isJson, isDryRun }: { isJson: boolean; isDryRun: boolean },
) {
  let last: string | undefined;
  if (isJson) terminal.print('{"receipts": [');
  return {
    add: (one: ImportedDelivery | Forecast): void => {
      if (!isJson) {
        if (isDryRun) terminal.print(`${one.line}: ${wordsOf(one as Forecast)}`);
        return;
      }
      if (last !== undefined) terminal.print(`${last},`);
      const { line, repeat } = one;
      last = JSON.stringify(isDryRun ? one : { line, id: one.id, repeat });
    },
    end: (): void => {
      if (isJson) terminal.print(`${last ?? ''}]}`);
    },
  };
}

/** Words of a dry run for a delivery. */
function wordsOf({ repeat, outcomes: counts, leads }: Forecast): string {
  if (repeat && leads === 0) return 'came before';
  if (repeat) return `came before, and is worked on again, of ${plural(leads, 'lead')}`;
  const words = counted(counts);
  if (!counts.PENDING) return words || 'holds no event';
  return `${words}, ${leads === 0 ? 'of nobody who is known' : `of ${plural(leads, 'lead')}`}`;
}

function counted(counts: Forecast['outcomes']): string {
  return outcomes
    .flatMap((one) => (counts[one] ? [`${counts[one]} ${one === 'PENDING' ? 'new' : one}`] : []))
    .join(', ');
}

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** Deliveries so far, and what became of them, or would. */
type Tally = {
  deliveries: number;
  repeats: number;
  outcomes: Forecast['outcomes'];
  queued: number;
  undated: number;
  /** The line of the first of these. */
  undatedFrom?: number;
};

function addTo(tally: Tally, one: ImportedDelivery | Forecast): void {
  tally.deliveries += 1;
  if (one.repeat) tally.repeats += 1;
  if ('queued' in one) tally.queued += one.queued;
  else if (one.undated > 0) {
    tally.undated += one.undated;
    tally.undatedFrom ??= one.line;
  }
  for (const outcome of outcomes)
    if (one.outcomes[outcome])
      tally.outcomes[outcome] = (tally.outcomes[outcome] ?? 0) + one.outcomes[outcome];
}

const undatedWords = ({ undated, undatedFrom }: Tally): string =>
  `${plural(undated, 'event')} of an unknown time, the first at ${undatedFrom}: a lead of the same person that came since is taken, too. ` +
  'A time is RFC 3339 with its zone, or Unix time.';

function sumUp(terminal: Terminal, tally: Tally, { partner, path, dryRun }: ImportOptions): void {
  const { deliveries, repeats, outcomes: counts, queued } = tally;
  if (deliveries === 0) return terminal.note('The file holds no delivery: nothing was done.');
  terminal.print(
    renderFacts([
      ['deliveries', String(deliveries)],
      ['came before', String(repeats)],
      ['events of the others', counted(counts) || '0'],
    ]),
  );
  for (const outcome of ['IGNORED', 'REJECTED'] as const)
    if (counts[outcome]) terminal.note(`${outcome}: ${eventOutcomes[outcome].meaning}`);
  if (tally.undated > 0) terminal.note(undatedWords(tally));
  if (dryRun) return terminal.note('Nothing was changed. To bring them in, leave --dry-run out.');
  const hidden = path === 'deletions' ? ', and the leads that are named are hidden now' : '';
  if (queued > 0)
    terminal.note(
      `${plural(queued, 'event')} ${queued === 1 ? 'waits' : 'wait'} for the service that runs${hidden}.`,
    );
  terminal.note(`What becomes of them: trackport receipt list --partner ${partner}`);
}
