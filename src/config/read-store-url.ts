import { type Environment, interpolate } from './interpolate.ts';
import { ConfigError } from './problems.ts';
import { type StoreAddress, storeUrl } from './store-url.ts';

/**
 * A store's URL of the command line, with `${NAME}` and `${file:PATH}` as in the configuration: so a
 * password need not be where every user of the machine can read it. `name` is the argument's.
 * @throws {ConfigError} with what is wrong, never with the value
 */
export function readStoreUrl(name: string, text: string, environment: Environment): StoreAddress {
  const { value, problems: missing } = interpolate({ [name]: text }, environment);
  const parsed = storeUrl().safeParse((value as Record<string, unknown>)[name]);
  if (parsed.success && missing.length === 0) return parsed.data;
  const refused = (parsed.error?.issues ?? []).map(({ message }) => ({
    path: name,
    found: 'another text',
    allowed: message,
  }));
  throw new ConfigError('The command line', missing.length > 0 ? missing : refused);
}
