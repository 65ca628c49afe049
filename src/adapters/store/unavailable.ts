import { TrackportError } from '#shared/errors.ts';

/** That a store cannot do what it should: `detail` is public, `cause` what its driver or the file system said. */
export function unavailable(detail: string, cause?: unknown): TrackportError {
  return new TrackportError('store-unavailable', { detail, retryAfterSeconds: 1, cause });
}

export const BUSY = 'The store is busy with another process.';
