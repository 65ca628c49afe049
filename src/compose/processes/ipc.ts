/** How the primary process and those that serve talk to each other. */
import type { Config } from '#config/schema/schema.ts';
import type { Readiness } from '#http/readiness.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { isRecord } from '#shared/text/json.ts';

/** The metrics of one process, as `Registry.getMetricsAsJSON` gives them. */
export type ProcessMetrics = readonly object[];

/** What a process that serves can be called for, with what it returns. `reload` and `stop` wait for the start. */
export type ChildCalls = {
  /** `reason`: it cannot serve, and people can do something about it. */
  start: { url: string } | { reason: string };
  reload: void;
  isHealthy: boolean;
  readiness: Readiness;
  metrics: ProcessMetrics;
  stop: void;
};

/** What the primary process can be called for: what the service as a whole says. */
export type PrimaryCalls = { isHealthy: boolean; readiness: Readiness; metrics: string };

/** Undefined when the other one cannot tell. Never resolves when it hangs or ends. */
export type Ipc<Calls> = <Name extends keyof Calls>(
  name: Name,
  config?: string,
) => Promise<Calls[Name] | undefined>;

/** Only `start` and `reload` get a configuration. */
export type IpcHandlers<Calls> = {
  [Name in keyof Calls]: (config: string) => Promise<Calls[Name] | undefined>;
};

type Message =
  | { kind: 'call'; id: number; name: string; config?: string }
  | { kind: 'return'; id: number; value?: unknown };

type Channel = {
  send?: (message: Message, ...rest: [undefined, undefined, () => void]) => unknown;
  on: (event: 'message', listener: (message: Message) => void) => unknown;
};

/** Calls the process at the other end of the channel, and does what that one calls for. */
export function createIpc<Theirs, Ours>(channel: Channel, handlers: IpcHandlers<Ours>) {
  const waiting = new Map<number, (value: unknown) => void>();
  let lastId = 0;
  // Who is gone needs to be told nothing.
  const send = (message: Message) => channel.send?.(message, undefined, undefined, () => undefined);
  channel.on('message', (message) => {
    const { id } = message;
    if (message.kind === 'call') {
      void handlers[message.name as keyof Ours](message.config ?? '')
        .catch(() => undefined)
        .then((value) => send({ kind: 'return', id, value }));
    } else {
      waiting.get(id)?.(message.value);
      waiting.delete(id);
    }
  });
  const call = (name: string, config?: string): Promise<unknown> =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      send({ kind: 'call', id: lastId, name, config });
    });
  return call as Ipc<Theirs>;
}

const MARK = 'a secret of the configuration';

/** A configuration as a text that can be sent, secrets and all. */
export function packConfig(config: Config): string {
  return JSON.stringify(config, function mark(this: Record<string, unknown>, key, value: unknown) {
    const own = this[key];
    return own instanceof Secret ? { [MARK]: own.reveal() } : value;
  });
}

/** The configuration that was packed. */
export function unpackConfig(packed: string): Config {
  return JSON.parse(packed, (_key, value: unknown) => {
    const secret = isRecord(value) ? value[MARK] : undefined;
    return typeof secret === 'string' ? new Secret(secret) : Object.freeze(value);
  }) as Config;
}
