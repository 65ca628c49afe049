import type { ActionOf, Open, RunContext } from './command.ts';
import type { Services } from './services.ts';

/** What a family of commands is registered with. */
export type CommandContext = RunContext & {
  services: Services;
  /** Makes the actions of a family from the opener of its services. */
  actionOf: <T>(open: Open<T>) => ActionOf<T>;
};
