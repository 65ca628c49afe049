import { isRecord, parseOwnJson } from '#shared/text/json.ts';
import { type Changes, differences, orderChanges, toChange } from './changes.ts';
import { judge } from './openapi/judge.ts';

/** The specs as they are stored; undefined for none. */
export type SpecPair = { before: string | undefined; after: string | undefined };

/**
 * `diffSpecs`, wherever it runs. `too-costly`: this pair takes too much time or memory, and will again.
 * @throws {overloaded} too many big ones wait
 */
export type SpecDiffer = (specs: SpecPair, signal?: AbortSignal) => Promise<Changes | 'too-costly'>;

/** Compares two specs. Only of OpenAPI documents anything is said to break or not to. */
export function diffSpecs({ before, after }: SpecPair): Changes {
  if (before === after) return { changes: [], truncated: false };
  const [former, latter] = [before, after].map((text) =>
    text === undefined ? undefined : read(text),
  );
  if (former === undefined || latter === undefined) return oneChange(former);
  const found = differences(former, latter);
  const isJudged = isOpenApi(former) && isOpenApi(latter);
  const changes = isJudged
    ? judge(former, latter, found)
    : found.map((difference) => toChange(difference, 'unclassified'));
  return orderChanges(changes, '/spec');
}

function oneChange(former: unknown): Changes {
  const kind = former === undefined ? ('added' as const) : ('removed' as const);
  return {
    changes: [{ path: '/spec', kind, impact: 'unclassified', text: kind }],
    truncated: false,
  };
}

function read(text: string): Record<string, unknown> {
  const value = parseOwnJson(text);
  return isRecord(value) ? value : {};
}

function isOpenApi(document: Record<string, unknown>): boolean {
  return typeof document['openapi'] === 'string' || typeof document['swagger'] === 'string';
}
