import pg from 'pg';
import { SECOND, sleepUntilAborted, systemClock } from '#shared/clock.ts';
import { doublingSchedule, waitMsAfter } from '#shared/resilience/backoff.ts';
import type { Database } from '#shared/database.ts';

const WAITS = doublingSchedule(SECOND / 10, 10 * SECOND);
/** A connection that the network cut off says nothing: it is asked now and then. */
const ASK_EVERY_MS = 30 * SECOND;
const END_WITHIN_MS = SECOND;

/** Somebody notified the channel, or may have: `onNotified` is also called each time a connection begins to hear it. */
type Listener = { channel: string; onNotified: () => void };

/** Those who listen now, on one connection; `joined` wakes it when one more does. */
type Audience = {
  config: pg.ClientConfig;
  listeners: Set<Listener>;
  joined: AbortController;
};

/**
 * Listens for everybody on one connection of its own, which is there while anybody does, and makes another one
 * whenever it breaks. What is notified in between is lost; `onNotified` is called after it. `config`: how to connect.
 */
export function createListening(config: pg.ClientConfig): Database['listen'] {
  const joined = new AbortController();
  const audience: Audience = { config, listeners: new Set(), joined };
  let listening: { closing: AbortController; ended: Promise<void> } | undefined;
  const begin = () => {
    const closing = new AbortController();
    return { closing, ended: keepHearing(audience, closing.signal) };
  };
  return (channel, onNotified) => {
    const listener = { channel, onNotified };
    audience.listeners.add(listener);
    audience.joined.abort();
    const heard = (listening ??= begin());
    return {
      close: async () => {
        audience.listeners.delete(listener);
        if (audience.listeners.size > 0) return;
        if (listening === heard) listening = undefined;
        heard.closing.abort();
        await heard.ended;
      },
    };
  };
}

async function keepHearing(audience: Audience, closing: AbortSignal): Promise<void> {
  let failures = 0;
  const onHeard = (): void => {
    failures = 0;
  };
  while (!closing.aborted) {
    await hear(audience, onHeard, closing).catch(() => undefined);
    failures += 1;
    await sleepUntilAborted(systemClock, waitMsAfter(WAITS, failures), closing);
  }
}

/** Resolves or rejects when the connection is of no use any more. */
async function hear(audience: Audience, onHeard: () => void, closing: AbortSignal): Promise<void> {
  const client = new pg.Client(audience.config);
  const ended = new AbortController();
  for (const event of ['end', 'error'] as const) client.on(event, () => ended.abort());
  client.on('notification', (notified) => {
    for (const { channel, onNotified } of audience.listeners)
      if (channel === notified.channel) onNotified();
  });
  try {
    await client.connect();
    const over = AbortSignal.any([ended.signal, closing]);
    const heard = new WeakSet<Listener>();
    while (!over.aborted) {
      audience.joined = new AbortController();
      const listeners = [...audience.listeners];
      await client.query(listeners.map(({ channel }) => `LISTEN ${channel}`).join('; '));
      onHeard();
      for (const one of listeners) if (!heard.has(one)) one.onNotified();
      for (const one of listeners) heard.add(one);
      await sleepUntilAborted(
        systemClock,
        ASK_EVERY_MS,
        AbortSignal.any([over, audience.joined.signal]),
      );
    }
  } finally {
    const left = client.end().catch(() => undefined);
    await Promise.race([left, systemClock.sleep(END_WITHIN_MS, { unref: true })]);
  }
}
