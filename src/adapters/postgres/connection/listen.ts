import pg from 'pg';
import { type Clock, SECOND, sleepUntilAborted, systemClock } from '#shared/clock.ts';
import type { Listening } from '../../store/session.ts';
import { doublingSchedule, waitMsAfter } from '#shared/resilience/backoff.ts';

export type ListenOptions = {
  /** How to connect. */
  client: pg.ClientConfig;
  channel: string;
  /** Somebody notified the channel, or may have: also called each time the connection is made. */
  onNotified: () => void;
  clock?: Pick<Clock, 'sleep'>;
};

const WAITS = doublingSchedule(SECOND / 10, 10 * SECOND);
/** A connection that the network cut off says nothing: it is asked now and then. */
const ASK_EVERY_MS = 30 * SECOND;
const END_WITHIN_MS = SECOND;

/**
 * Listens on a connection of its own, and makes another one whenever it breaks. What is notified
 * in between is lost; `onNotified` is called after it.
 */
export function listen({ clock = systemClock, ...options }: ListenOptions): Listening {
  const closing = new AbortController();
  const running = run({ ...options, clock }, closing.signal);
  return {
    close: () => {
      closing.abort();
      return running;
    },
  };
}

type Deps = ListenOptions & Required<Pick<ListenOptions, 'clock'>>;

async function run(deps: Deps, closing: AbortSignal): Promise<void> {
  let failures = 0;
  const onNotified = (): void => {
    failures = 0;
    deps.onNotified();
  };
  while (!closing.aborted) {
    await hear({ ...deps, onNotified }, closing).catch(() => undefined);
    failures += 1;
    await sleepUntilAborted(deps.clock, waitMsAfter(WAITS, failures), closing);
  }
}

/** Resolves or rejects when the connection is of no use any more. */
async function hear(
  { client: config, channel, onNotified, clock }: Deps,
  closing: AbortSignal,
): Promise<void> {
  const client = new pg.Client(config);
  const ended = new AbortController();
  for (const event of ['end', 'error'] as const) client.on(event, () => ended.abort());
  client.on('notification', onNotified);
  try {
    await client.connect();
    await client.query(`LISTEN ${channel}`);
    onNotified();
    const over = AbortSignal.any([ended.signal, closing]);
    while (!over.aborted) {
      await sleepUntilAborted(clock, ASK_EVERY_MS, over);
      if (!over.aborted) await client.query('SELECT 1');
    }
  } finally {
    const left = client.end().catch(() => undefined);
    await Promise.race([left, clock.sleep(END_WITHIN_MS, { unref: true })]);
  }
}
