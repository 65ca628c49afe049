import { untilDirectoryIsComplete } from '../../support/directory-complete.ts';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createDisk, type Disk } from './disk/disk.ts';
import { programFile } from '../../support/program.ts';
import { issueOf, SECRETS } from '../people.ts';
import { type Child, type RemoteTracker, startChild, startRemoteTracker } from '../service.ts';

/** Deletions that were answered 202, with the leads that they hide. */
export type Acknowledged = { receiptId: string; claimed: readonly number[] };

/** A service on a disk that fails, and all that it acknowledged. */
export type World = AsyncDisposable & {
  disk: Disk;
  store: string;
  /** Starts the service on what is on the disk. */
  serve(): Promise<Child>;
  /** Runs a command beside it, and reads what it prints. */
  command<T>(...args: string[]): Promise<T>;
  /** A consumer's, that may read all leads. */
  key: string;
  /** Nobody deletes these. */
  bystanders: readonly number[];
  /** Leads that nobody has deleted yet, and by which address. */
  undeleted: { number: number; email: string }[];
  acknowledged: Acknowledged[];
  /** Deliveries that were sent. */
  sent: number;
};

const execute = promisify(execFile);
const BYSTANDERS = 20;

/** Undefined without a C compiler. The store and its directory are complete, and on the disk. */
export async function openWorld(folder: string, leads: number): Promise<World | undefined> {
  await using held = new AsyncDisposableStack();
  const tracker = await startRemoteTracker();
  held.defer(async () => void (await tracker.stop()));
  const numbers = await seed(tracker, BYSTANDERS + leads);
  const store = path.join(folder, 'trackport.db');
  const config = path.join(folder, 'trackport.yaml');
  writeFileSync(config, configOf(store, tracker));
  const start = (environment?: Record<string, string>): Promise<Child> =>
    startChild([programFile(), 'serve', '--config', config, '--port', '0'], environment);
  const command: World['command'] = async (...args) => {
    const all = [programFile(), ...args, '--json', '--config', config];
    const { stdout } = await execute(process.execPath, all, { maxBuffer: Infinity });
    try {
      return JSON.parse(stdout);
    } catch (error) {
      const what = `${args.join(' ')} printed ${stdout.length} characters: ${stdout.slice(0, 200)}`;
      throw new Error(what, { cause: error });
    }
  };

  const first = await start();
  await untilDirectoryIsComplete(first.url);
  const { key } = await command<{ key: string }>(...CREATE_CONSUMER);
  await first.stop();
  const disk = createDisk(store, folder);
  if (!disk) return undefined;
  let serving: Child | undefined;
  held.defer(async () => serving?.kill());
  const end = held.move();
  return {
    disk,
    store,
    serve: async () => (serving = await start(disk.environment)),
    command,
    key,
    bystanders: numbers.slice(0, BYSTANDERS),
    undeleted: numbers.slice(BYSTANDERS).map((number) => ({ number, email: emailOf(number) })),
    acknowledged: [],
    sent: 0,
    [Symbol.asyncDispose]: () => end.disposeAsync(),
  };
}

const CREATE_CONSUMER = ['consumer', 'create', 'reader', '--grant', 'leads:read'];

const emailOf = (index: number): string => `person-${index}@cut.example`;

/** Their numbers. */
async function seed(tracker: RemoteTracker, count: number): Promise<number[]> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const issues = numbers.map((number) =>
    issueOf({ email: emailOf(number), objectId: String(number) }),
  );
  await tracker.control('seedIssues', issues);
  return numbers;
}

/** The worker writes so seldom that most leads which were deleted are hidden by their claims alone. */
function configOf(store: string, { url: apiUrl, token }: RemoteTracker): string {
  return JSON.stringify({
    store: { url: `sqlite:${store}` },
    secretKey: Buffer.alloc(32, 13).toString('base64'),
    tracker: { repository: 'acme/leads', apiUrl, auth: { token }, writeInterval: '50ms' },
    leads: { portalAuthors: ['acme-portal[bot]'], freshFor: '1h' },
    partners: {
      'crm-one': {
        scheme: 'hmac-sha256',
        secrets: [SECRETS['crm-one']],
        events: [{ type: 'noted', addLabels: ['noted'] }],
        limitPerMinute: 1_000_000,
      },
    },
  });
}
