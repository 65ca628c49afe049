import { ConfigError } from '#config/problems.ts';
import { isTrackportError } from '#shared/errors.ts';
import { describeBug } from '#shared/log.ts';

import { CommandFailure, UsageError } from './command.ts';

/** Why a command line failed. */
export type Failure = {
  /** 2 for a wrong configuration or command line, 1 for everything else. */
  exitCode: 1 | 2;
  /** Stable: `usage`, `invalid-configuration`, `failed`, `start-failed` or an error code of the API. */
  code: string;
  /** For people; empty when the result has said everything. */
  detail: string;
  /** What else a program can use: `errors`, `problems`, `allowed`, … */
  facts?: Readonly<Record<string, unknown>>;
};

/** The failure that an error thrown by a command stands for. Accepts anything. */
export function toFailure(error: unknown): Failure {
  if (error instanceof UsageError) return { exitCode: 2, code: 'usage', detail: error.message };
  if (error instanceof CommandFailure)
    return { exitCode: 1, code: 'failed', detail: error.message };
  if (error instanceof ConfigError) {
    const { message: detail, problems } = error;
    return { exitCode: 2, code: 'invalid-configuration', detail, facts: { problems } };
  }
  if (!isTrackportError(error))
    return { exitCode: 1, code: 'internal-error', detail: describeBug(error) };
  const { code, detail = code, errors, extensions } = error;
  return {
    exitCode: code === 'validation-failed' ? 2 : 1,
    code,
    detail,
    ...((errors || extensions) && { facts: { ...extensions, ...(errors && { errors }) } }),
  };
}

/** What standard error gets: the text, or with `--json` one JSON document. */
export function renderFailure(failure: Failure, { isJson }: { isJson: boolean }): string {
  const { code, detail, facts } = failure;
  if (!isJson || detail === '') return detail;
  return JSON.stringify({ error: { code, detail, ...facts } }, null, 2);
}
