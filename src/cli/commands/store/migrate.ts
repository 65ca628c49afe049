import { type Open, printJson, type Register } from '../../command.ts';

export type MigrateServices = {
  /** Names of the migrations that opening the store has just applied, in order. */
  applied: readonly string[];
  /** Names of all that the store has now. */
  present: readonly string[];
};

/** `migrate`: brings the store to the newest schema. `serve` does the same at its start. */
export const registerMigrate: Register<{ migrate: Open<MigrateServices> }> = (
  command,
  { actionOf, services },
) => {
  const action = actionOf(services.migrate);
  command.action(
    action(async ({ services, terminal, isJson }) => {
      const { applied, present } = services;
      if (isJson) printJson(terminal, { applied, present });
      else if (applied.length === 0)
        terminal.print(`The store is up to date (${present.length} migrations).`);
      else terminal.print(applied.map((name) => `applied ${name}`).join('\n'));
    }),
  );
};
