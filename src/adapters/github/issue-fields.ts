import { z } from 'zod';
import { foldLabel } from '#shared/text/labels.ts';
import { type Clock, MINUTE } from '#shared/clock.ts';
import { isTrackerFailure } from './transport/failure.ts';
import type { TrackerClient } from './transport/client.ts';
import { NOT_HERE, type Repository } from './repository.ts';

/** A typed field, as the organization defines it. */
export type FieldDefinition = {
  id: number;
  name: string;
  /** `text`, `number`, `date`, `single_select`, `multi_select`, or what may come. */
  kind: string;
  /** Names; none where it is no field to choose in. */
  options: readonly string[];
};

const fieldsSchema = z.array(
  z
    .object({
      id: z.int(),
      name: z.string(),
      data_type: z.string(),
      options: z.array(z.object({ name: z.string() })).nullish(),
    })
    .transform(({ id, name, data_type: kind, options }): FieldDefinition => {
      return { id, name, kind, options: (options ?? []).map((option) => option.name) };
    }),
);

/**
 * The typed fields of the repository's owner; undefined where it is no organization, or the credential may not see
 * them: an App and a fine-grained token need the organization's permission `Issue Fields`, a classic token `read:org`.
 * @see https://docs.github.com/en/rest/orgs/issue-fields
 * @throws {TrackerFailure}
 */
export async function readFields({
  client,
  repository,
}: {
  client: TrackerClient;
  repository: Repository;
}): Promise<readonly FieldDefinition[] | undefined> {
  const response = await client
    .request(
      'GET /orgs/{org}/issue-fields',
      { org: repository.name.owner },
      { schema: fieldsSchema, accept: NOT_HERE.filter((status) => status !== 410) },
    )
    .catch((error: unknown) => {
      if (isTrackerFailure(error, 'forbidden')) return undefined;
      throw error;
    });
  return response?.kind === 'success' ? response.data : undefined;
}

const KNOWN_FOR_MS = MINUTE;

/** The number of a field by its name; asks the tracker at most once a minute. @throws {TrackerFailure} */
export function createFieldNumbers(client: TrackerClient, repository: Repository, clock: Clock) {
  let known: { numbers: ReadonlyMap<string, number>; at: number } | undefined;
  return async (name: string): Promise<number | undefined> => {
    if (known === undefined || clock.monotonicMs() - known.at > KNOWN_FOR_MS) {
      const fields = (await readFields({ client, repository })) ?? [];
      const numbers = new Map(fields.map((field) => [foldLabel(field.name), field.id]));
      known = { numbers, at: clock.monotonicMs() };
    }
    return known.numbers.get(foldLabel(name));
  };
}
