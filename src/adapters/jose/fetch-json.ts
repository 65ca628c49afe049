import { readBytes } from '#shared/bytes.ts';

const RESPONSE_BYTES_MAX = 512 * 1024;

/** Failure of the issuer, in words for an operator; it never holds the response. */
export class IssuerFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'IssuerFailure';
  }
}

/**
 * The JSON of the issuer's response, which must be a 200, at most 512 KiB of it. Redirects are not followed.
 * @throws {IssuerFailure}
 */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'application/json' },
      signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new IssuerFailure(`It answered ${response.status} in place of 200.`);
    }
    const tooLarge = (): Error => new IssuerFailure('Its answer is too large.');
    const bytes = await readBytes(response.body, RESPONSE_BYTES_MAX, tooLarge);
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw toFailure(error, signal);
  }
}

function toFailure(error: unknown, signal: AbortSignal): IssuerFailure {
  if (error instanceof IssuerFailure) return error;
  if (signal.aborted) return new IssuerFailure('It did not answer in time.', { cause: error });
  if (error instanceof SyntaxError)
    return new IssuerFailure('Its answer is not JSON.', { cause: error });
  return new IssuerFailure('It cannot be reached.', { cause: error });
}
