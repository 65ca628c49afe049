import { z } from 'zod';

import type { Repository } from './repository.ts';
import type { TrackerClient } from './transport/client.ts';

const PER_PAGE = 100;
/** A repository with more labels shows the first thousand, by name. */
const PAGES_MAX = 10;

const labelNames = z.array(z.object({ name: z.string() }));

export type LabelsDeps = { client: TrackerClient; repository: Repository };

/**
 * The names of the repository's labels, at most 1,000.
 * @see https://docs.github.com/en/rest/issues/labels#list-labels-for-a-repository
 * @throws {TrackerFailure} for every failure of the tracker
 */
export async function readLabels({ client, repository }: LabelsDeps): Promise<string[]> {
  const names: string[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const response = await client.request(
      'GET /repos/{owner}/{repo}/labels',
      { ...repository.name, per_page: PER_PAGE, page },
      { schema: labelNames },
    );
    const labels = response.kind === 'success' ? response.data : [];
    names.push(...labels.map(({ name }) => name));
    if (labels.length < PER_PAGE) break;
  }
  return names;
}
