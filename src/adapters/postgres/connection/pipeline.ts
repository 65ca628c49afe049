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

/** Of one connection. What it makes throws what the driver throws. */
export function createPipeline(client: pg.ClientBase) {
  let last: Promise<unknown> = Promise.resolve();
  let open: Packet | undefined;
  const enqueue = <T>(job: () => Promise<T>): Promise<T> => {
    const done = last.then(job);
    last = done.catch(() => undefined); // told to whoever asked for it
    return done;
  };
  const openPacket = (): Packet => {
    const parts: Part[] = [];
    const responses = enqueue(() => {
      if (open === packet) open = undefined;
      return send(client, parts);
    });
    const packet = { parts, responses };
    open = packet;
    return packet;
  };
  return {
    /** Adds a statement to the packet that is yet to be sent, or to a new one. */
    add: async (part: Part): Promise<Response> => {
      const { parts, responses } = open ?? openPacket();
      const place = parts.push(part) - 1;
      const response = (await responses)[place];
      if (!response) throw new Error('the server left a statement out');
      return response;
    },
    /** Runs when all before has ended. Fails with the packet that stands right before it. */
    alone: <T>(work: () => Promise<T>): Promise<T> => {
      const before = open;
      open = undefined;
      return enqueue(async () => {
        await before?.responses;
        return work();
      });
    },
    /** Whether there is a packet that is yet to be sent, and nothing stands behind it. */
    canJoinPacket: (): boolean => open !== undefined,
  };
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

function send(client: pg.ClientBase, parts: readonly Part[]): Promise<readonly Response[]> {
  const responses: Response[] = [];
  let texts: Response['texts'] = [];
  return new Promise((resolve, reject) => {
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
    client.query(query);
  });
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
