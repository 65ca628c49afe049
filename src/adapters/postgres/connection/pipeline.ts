/**
 * What is asked of a connection, one thing after the other: statements that it has prepared go together, one
 * way to the server and back for all that are asked for before any of them is awaited. The driver's own
 * `pipeline` describes each statement anew: a third more processor time for a sender alone, and a quarter less
 * throughput at fifty at once.
 */
import type pg from 'pg';

/** A statement that the connection has prepared. */
type Part = { name: string; bound: (string | Buffer | null)[] };

/** What the server sent: the texts of the rows, and what it did (`UPDATE 3`). */
export type Response = { texts: (readonly (string | null)[])[]; tag: string };

/** Statements that are yet to be sent. */
type Packet = {
  parts: Part[];
  /** One for each part, in their order. Rejects when one of them fails: all behind it are passed over. */
  responses: Promise<readonly Response[]>;
};

type Job = () => Promise<unknown>;

/** What a connection is yet to do. */
type Line = { jobs: Job[]; isRunning: boolean; open?: Packet | undefined };

/** Of one connection. What it makes throws what the driver throws. */
export type Pipeline = {
  /** Adds a statement to the packet that is yet to be sent, or to a new one. */
  add(part: Part): Promise<Response>;
  /** Runs when all before has ended. Fails with the packet that stands right before it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Whether there is a packet that is yet to be sent, and nothing stands behind it. */
  gathers(): boolean;
};

export function createPipeline(client: pg.ClientBase): Pipeline {
  const line: Line = { jobs: [], isRunning: false };
  const open = (): Packet => {
    const { promise: responses, ...settle } = Promise.withResolvers<readonly Response[]>();
    const packet: Packet = { parts: [], responses };
    line.open = packet;
    enqueue(line, () => {
      if (line.open === packet) line.open = undefined;
      send(client, packet.parts, settle);
      return responses;
    });
    return packet;
  };
  return {
    add: async (part) => {
      const { parts, responses } = line.open ?? open();
      const place = parts.push(part) - 1;
      const response = (await responses)[place];
      if (!response) throw new Error('the server left a statement out');
      return response;
    },
    alone: (work) => {
      const before = line.open;
      line.open = undefined;
      return new Promise((resolve, reject) => {
        enqueue(line, async () => {
          try {
            await before?.responses;
            resolve(await work());
          } catch (error) {
            reject(error);
          }
        });
      });
    },
    gathers: () => line.open !== undefined,
  };
}

function enqueue(line: Line, job: Job): void {
  line.jobs.push(job);
  if (line.isRunning) return;
  line.isRunning = true;
  queueMicrotask(() => void runAll(line));
}

async function runAll(line: Line): Promise<void> {
  for (let job = line.jobs.shift(); job; job = line.jobs.shift())
    await job().catch(() => undefined); // told to whoever asked for it
  line.isRunning = false;
}

/** What the driver's client calls on a query that is not of its own class, as those of `pg-cursor`. */
type DriverQuery = pg.Submittable & {
  /** The client puts its time limit around it. */
  callback: (error: Error | undefined) => void;
  handleDataRow(message: { fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { text: string }): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
};

type Settle = {
  resolve: (responses: readonly Response[]) => void;
  reject: (error: unknown) => void;
};

function send(client: pg.ClientBase, parts: readonly Part[], { resolve, reject }: Settle): void {
  const responses: Response[] = [];
  let texts: Response['texts'] = [];
  const query: DriverQuery = {
    callback: (error) => (error ? reject(error) : resolve(responses)),
    submit: (connection) => write(connection, parts),
    handleDataRow: ({ fields }) => void texts.push(fields),
    handleCommandComplete: ({ text: tag }) => {
      responses.push({ texts, tag });
      texts = [];
    },
    handleReadyForQuery: () => query.callback(undefined),
    handleError: (error) => query.callback(error),
  };
  try {
    client.query(query);
  } catch (error) {
    reject(error);
  }
}

function write(connection: pg.Connection, parts: readonly Part[]): void {
  const { stream } = connection;
  stream.cork();
  for (const { name, bound } of parts) {
    connection.bind({ statement: name, values: bound }, false);
    connection.execute(null, false);
  }
  connection.sync();
  stream.uncork();
}
