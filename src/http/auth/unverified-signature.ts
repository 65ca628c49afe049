import { TrackportError } from '#shared/errors.ts';

/** One and the same 401 for every signed request that cannot be verified, whatever the reason. */
export function unverifiedSignature(): TrackportError {
  return new TrackportError('unauthorized', {
    detail: 'The signature of this call could not be verified.',
    challenge: 'Signature',
  });
}
