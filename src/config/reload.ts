import { isRecord } from '#shared/text/json.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { crossCheck } from './schema/cross-checks.ts';
import type { KeyPath } from './schema/key-tree.ts';
import { ConfigError, pathText } from './problems.ts';
import type { Config } from './schema/schema.ts';

/** Keys that stay as they were at the start, whatever is reloaded. */
export type FixedConfig = Omit<
  Config,
  'partners' | 'deletions' | 'consumers' | 'catalog' | 'server' | 'tracker' | 'portal'
> & {
  server: Omit<Config['server'], 'logLevel'>;
  tracker: Omit<Config['tracker'], 'auth' | 'adminToken' | 'webhookSecrets'>;
  portal?: Omit<NonNullable<Config['portal']>, 'clientSecret'>;
};

/** Result of a reload. `changed` and `restartNeeded` name keys, never values. */
export type TakeOver = {
  /** As it is in force from now on. */
  config: Config;
  /** Keys that differ and were taken over. */
  changed: string[];
  /** Keys that differ and count from the next start on. */
  restartNeeded: string[];
};

/**
 * Takes over what a running service can: partners, deletions, consumers, the catalog, the log level,
 * and the secrets of the tracker and the portal. Everything else stays as it is running.
 * @throws {ConfigError} when what is taken over does not go with what stays
 */
export function takeOver(running: Config, next: Config): TakeOver {
  const { partners, deletions, consumers, catalog } = next;
  const { adminToken: _former, ...tracker } = running.tracker;
  const config: Config = {
    ...running,
    partners,
    deletions,
    consumers,
    catalog,
    server: { ...running.server, logLevel: next.server.logLevel },
    tracker: {
      ...tracker,
      auth: next.tracker.auth,
      webhookSecrets: next.tracker.webhookSecrets,
      ...(next.tracker.adminToken && { adminToken: next.tracker.adminToken }),
    },
    ...(running.portal && { portal: portalOf(running.portal, next.portal) }),
  };
  const problems = crossCheck(config);
  if (problems.length > 0) throw new ConfigError('What would be in force', problems);
  return {
    config,
    changed: changedKeys(running, config),
    restartNeeded: changedKeys(config, next),
  };
}

type PortalConfig = NonNullable<Config['portal']>;

/** One that is gone from the file stays as it is: what needs a restart is all of it. */
function portalOf(running: PortalConfig, next: PortalConfig | undefined): PortalConfig {
  if (!next) return running;
  const { clientSecret: _former, ...portal } = running;
  return { ...portal, ...(next.clientSecret && { clientSecret: next.clientSecret }) };
}

/** One key whose value is read as several. */
const STORE_URL = 'store.url';

/** The keys in which two parts of a configuration differ; a list counts as one key. */
export function changedKeys(left: unknown, right: unknown, path: KeyPath = []): string[] {
  const own = pathText(path);
  if (!isSection(left) || !isSection(right)) return isEqual(left, right) ? [] : [own];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  const changed = [...keys].flatMap((key) => changedKeys(left[key], right[key], [...path, key]));
  return own === STORE_URL && changed.length > 0 ? [own] : changed;
}

function isSection(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !(value instanceof Secret);
}

function isEqual(left: unknown, right: unknown): boolean {
  if (left instanceof Secret && right instanceof Secret) return left.reveal() === right.reveal();
  if (!Array.isArray(left) || !Array.isArray(right)) return left === right;
  return (
    left.length === right.length &&
    left.every((item, at) => changedKeys(item, right[at]).length === 0)
  );
}

/** A value that can be replaced while the service runs, with all that is made from it. */
export type Reloadable<T> = {
  /** The value in force. Whoever works on something reads it once, and finishes with that. */
  current(): T;
  /**
   * Something made from the value, made anew with each replacement; `former` is what it was. The
   * function that comes back returns the one that goes with `current()`.
   */
  derive<D>(make: (value: T, former?: D) => D): () => D;
  /** Replaces the value and all that was made from it, or nothing. @throws what a `make` throws */
  replace(next: T): void;
};

export function createReloadable<T>(first: T): Reloadable<T> {
  let value = first;
  const derivations: ((next: T) => () => void)[] = [];
  return {
    current: () => value,
    derive: <D>(make: (value: T, former?: D) => D) => {
      let derived = make(value);
      derivations.push((next) => {
        const made = make(next, derived);
        return () => {
          derived = made;
        };
      });
      return () => derived;
    },
    replace: (next) => {
      // Everything is made before the first part is put in its place.
      const commits = derivations.map((prepare) => prepare(next));
      value = next;
      for (const commit of commits) commit();
    },
  };
}
