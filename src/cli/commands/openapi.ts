import { readFileSync, writeFileSync } from 'node:fs';

import { systemCodeOf } from '#shared/errors.ts';

import { CommandFailure, type Register, UsageError } from '../command.ts';

/** `openapi`: the description of the HTTP interface, made from the routes' schemas. */
export const registerOpenApi: Register = (command, { terminal }) => {
  command
    .option('--out <file>', 'write it to a file instead of standard output')
    .option('--check <file>', 'exit 1 when the file says something else')
    .action(async (options: { out?: string; check?: string }) => {
      if (options.out !== undefined && options.check !== undefined)
        throw new UsageError('Give either --out or --check.');
      const { renderOpenApi } = await import('#compose/openapi.ts');
      const text = await renderOpenApi();
      if (options.out !== undefined) write(options.out, text);
      else if (options.check !== undefined) check(options.check, text);
      else terminal.print(text.trimEnd());
    });
};

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw failureOf(`${file} cannot be written`, error);
  }
}

function check(file: string, text: string): void {
  if (readText(file) !== text)
    throw new CommandFailure(
      `${file} differs from the routes. Run \`npm run openapi\`, look at the difference, and commit it.`,
    );
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw failureOf(`${file} cannot be read`, error);
  }
}

function failureOf(message: string, cause: unknown): CommandFailure {
  return new CommandFailure(`${message} (${systemCodeOf(cause) ?? 'unknown failure'}).`, { cause });
}
