import pg from 'pg';
import type { EngineWorld } from '../engine.ts';
import type { Owner } from '../scheduler.ts';
import type { UnderWay } from './under-way.ts';

type Client = pg.Client & { processID: number | null };
type Request = PromiseWithResolvers<pg.QueryResult> & { config: pg.QueryConfig };

/** A connection of an instance. Its requests go to the server one group after the other. */
type Line = {
  owner: Owner;
  name: string;
  client: Client;
  /** Asked for at once, and not on their way yet. */
  group: Request[];
  last: Promise<void>;
  isInTransaction: boolean;
  /** Channels: what its transaction tells of, and what it wants to be told of. */
  notifies: Set<string>;
  listensTo: Set<string>;
};

/** One history. */
export type Play = {
  /** Fate of those who connect from now on. */
  deps?: EngineWorld;
  underWay: UnderWay;
  lines: Map<pg.Client, Line>;
};

type Methods = {
  connect: (this: Client, onLetIn: (error?: Error) => void) => void;
  query: (this: Client, config: pg.QueryConfig) => Promise<pg.QueryResult>;
  emit: (this: Client, event: string, ...values: unknown[]) => boolean;
};

/** Those that were there before anything was patched. */
const { connect, query, emit } = pg.Client.prototype as unknown as Methods;

/**
 * From now on the driver's requests set out, and are answered, when the scheduler says so. In between nothing else goes on,
 * but while they wait for a lock.
 */
export function patchDriver(play: Play): void {
  const { lines, underWay } = play;
  Object.assign(pg.Client.prototype, {
    connect(this: Client, callback?: (error?: Error) => void) {
      if (callback) return startLine(play, this, callback);
      return new Promise<void>((resolve, reject) => {
        startLine(play, this, (error) => (error ? reject(error) : resolve()));
      });
    },
    query(this: Client, asked: pg.QueryConfig | string) {
      const config = typeof asked === 'string' ? { text: asked } : asked;
      const request: Request = { ...Promise.withResolvers(), config };
      const line = lines.get(this);
      if (!line) request.reject(new Error('Connection terminated'));
      else if (line.group.push(request) === 1) process.nextTick(() => setOut(play, line));
      return request.promise;
    },
    emit(this: Client, event: string, ...values: [pg.Notification]) {
      const line = lines.get(this);
      if (event === 'end') lines.delete(this);
      if (event === 'error' && this.listenerCount('error') === 0) return false;
      if (event !== 'notification' || !line) return emit.call(this, event, ...values);
      const { processId, channel } = values[0];
      underWay.arrived(notificationOf(channel, processId, this));
      schedule(play, line, {
        what: `${channel} is notified`,
        run: () => emit.call(this, event, ...values),
      });
      return true;
    },
  });
}

/** The server's processes that work for an instance, which has no more use for them. */
export function processesOf({ lines, underWay }: Play, owner: Owner): number[] {
  const own = [...lines.values()].filter((line) => line.owner === owner);
  for (const { client } of own) {
    underWay.end(client);
    lines.delete(client);
  }
  return own.flatMap(({ client }) => client.processID ?? []);
}

function depsOf({ deps }: Play): EngineWorld {
  if (!deps) throw new Error('nobody plays');
  return deps;
}

type Step = { what: string; run: () => void; delayMs?: number };

function schedule(play: Play, { owner, name }: Line, { what, run, delayMs = 0 }: Step): void {
  const { scheduler } = depsOf(play);
  scheduler.add({ owner, lane: name, what, at: scheduler.nowMs() + delayMs, run });
}

function startLine(play: Play, client: Client, onLetIn: (error?: Error) => void): void {
  const { lines, underWay } = play;
  const owner = depsOf(play).scheduler.owner();
  const line: Line = {
    owner,
    name: `connection ${lines.size + 1} of ${owner.name}`,
    client,
    group: [],
    last: Promise.resolve(),
    isInTransaction: false,
    notifies: new Set(),
    listensTo: new Set(),
  };
  lines.set(client, line);
  underWay.begin(client);
  connect.call(client, (error?: Error) => {
    underWay.end(client);
    schedule(play, line, { what: 'the store lets it in', run: () => onLetIn(error) });
  });
}

/** A commit goes for itself, so that the commits of all have an order. */
function setOut(play: Play, line: Line): void {
  const { group } = line;
  line.group = [];
  const commit = group.findIndex(({ config }) => config.text === 'COMMIT');
  const groups = commit > 0 ? [group.slice(0, commit), group.slice(commit)] : [group];
  for (const one of groups) line.last = line.last.then(() => work(play, line, one));
}

async function work(play: Play, line: Line, group: readonly Request[]): Promise<void> {
  const { faults } = depsOf(play);
  const { client } = line;
  const what = group.map(({ config }) => describe(config.text)).join(', ');
  await new Promise<void>((resolve) => {
    schedule(play, line, {
      what: `the store works: ${what}`,
      run: resolve,
      delayMs: faults.delayMs(),
    });
  });
  play.underWay.begin(client);
  const answers = await Promise.allSettled(group.map(({ config }) => send(play, line, config)));
  play.underWay.end(client);
  const run = (): void => {
    for (const [at, answer] of answers.entries())
      if (answer.status === 'fulfilled') group[at]?.resolve(answer.value);
      else group[at]?.reject(answer.reason);
  };
  schedule(play, line, { what: `the store has answered ${what}`, run, delayMs: faults.delayMs() });
}

async function send(play: Play, line: Line, config: pg.QueryConfig): Promise<pg.QueryResult> {
  const { onCommit, scheduler } = depsOf(play);
  const { text } = config;
  if (text === 'COMMIT') return commit(play, line, config);
  if (text === 'BEGIN') line.isInTransaction = true;
  if (text === 'ROLLBACK') endTransaction(line);
  const { isInTransaction } = line;
  for (const [, channel = ''] of text.matchAll(/^NOTIFY (\w+)/g)) line.notifies.add(channel);
  const result = await query.call(line.client, atTime(config, scheduler.now()));
  for (const [, channel = ''] of text.matchAll(/\bLISTEN (\w+)/g)) line.listensTo.add(channel);
  if (!isInTransaction && result.command !== 'SELECT') onCommit(line.owner);
  return result;
}

async function commit(
  { deps, lines, underWay }: Play,
  line: Line,
  config: pg.QueryConfig,
): Promise<pg.QueryResult> {
  const fate = deps?.faults.onCommit();
  const told = [...endTransaction(line)].flatMap((channel) =>
    [...lines.values()]
      .filter(({ listensTo }) => listensTo.has(channel))
      .map(({ client }) => notificationOf(channel, line.client.processID, client)),
  );
  if (fate === 'full') {
    await query.call(line.client, { text: 'ROLLBACK' });
    throw Object.assign(new pg.DatabaseError('no space left', 0, 'error'), { code: '53100' });
  }
  for (const one of told) underWay.expect(one);
  const result = await query.call(line.client, config);
  if (result.command === 'COMMIT') deps?.onCommit(line.owner);
  else for (const one of told) underWay.arrived(one);
  if (fate === 'lost') throw new Error('Connection terminated unexpectedly');
  return result;
}

/** Returns the channels that a commit would notify. */
function endTransaction(line: Line): Set<string> {
  const { notifies } = line;
  line.isInTransaction = false;
  line.notifies = new Set();
  return notifies;
}

function notificationOf(channel: string, from: number | null, to: Client): string {
  return `${channel} from ${from} to ${to.processID}`;
}

/** The server's clock is the history's. */
function atTime(config: pg.QueryConfig, now: number): pg.QueryConfig {
  if (!config.text.includes('clock_timestamp()')) return config;
  const { name: _name, ...unnamed } = config;
  const time = `timestamptz '${new Date(now).toISOString()}'`;
  return { ...unnamed, text: config.text.replaceAll('clock_timestamp()', time) };
}

const WORDS = /^\s*(\w+)|\b(?:INTO|UPDATE|FROM)\s+(\w+)/g;

function describe(text: string): string {
  const words = [...text.matchAll(WORDS)].slice(0, 2);
  return words.map(([, first, table]) => first ?? table).join(' ');
}
