const ANSWER_BYTES_MAX = 512 * 1024;

/** Why the issuer could not be used, in words for an operator; never what it answered. */
export class IssuerTrouble extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'IssuerTrouble';
  }
}

/**
 * The JSON that the issuer answers with 200, at most 512 KiB of it. Redirects are not followed.
 * @throws IssuerTrouble
 */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'application/json' },
      signal,
    });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      throw new IssuerTrouble(`It answered ${answer.status} in place of 200.`);
    }
    return JSON.parse(await readText(answer));
  } catch (error) {
    throw toTrouble(error, signal);
  }
}

async function readText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new IssuerTrouble('Its answer is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toTrouble(error: unknown, signal: AbortSignal): IssuerTrouble {
  if (error instanceof IssuerTrouble) return error;
  if (signal.aborted) return new IssuerTrouble('It did not answer in time.', { cause: error });
  if (error instanceof SyntaxError)
    return new IssuerTrouble('Its answer is not JSON.', { cause: error });
  return new IssuerTrouble('It cannot be reached.', { cause: error });
}
