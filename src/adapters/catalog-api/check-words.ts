import { isTrackportError, type TrackportError, validationFailed } from '#shared/errors.ts';

type Words = { type: string; source: string };

/**
 * Looks whether the server knows the type and the source of a draft, each pair once: a filter with a word
 * that it does not know is refused. Its words are those of its own configuration.
 * @throws {validation-failed} with a pointer for each that it does not know
 */
export function createWordCheck(
  get: (target: string) => Promise<unknown>,
): (words: Words) => Promise<void> {
  const checked = new Map<string, TrackportError | undefined>();
  return async ({ type, source }) => {
    const query = new URLSearchParams({ type, source, limit: '1' }).toString();
    if (!checked.has(query)) checked.set(query, await refusalOf(get(`/api/v1/catalog?${query}`)));
    const refusal = checked.get(query);
    if (refusal) throw refusal;
  };
}

async function refusalOf(work: Promise<unknown>): Promise<TrackportError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (!isTrackportError(error, 'validation-failed')) throw error;
    return validationFailed(
      (error.errors ?? []).map(({ parameter = '', code, detail }) => ({
        pointer: `#/${parameter}`,
        code,
        detail,
      })),
    );
  }
}
