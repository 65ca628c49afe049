/** A signal that is aborted when what was expected did not come in time, or with `signal`. */
export function createWatch(signal?: AbortSignal) {
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rest = (): void => clearTimeout(timer);
  const expire = (ms: number): void =>
    late.abort(new DOMException(`Nothing came for ${ms / 1000} s.`, 'TimeoutError'));
  return {
    signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    expectWithin: (ms: number): void => {
      rest();
      timer = setTimeout(expire, ms, ms);
    },
    rest,
    end: (): void => {
      rest();
      late.abort();
    },
  };
}

/**
 * The parts of a body. Ends when `signal` is aborted, too: `fetch` itself may have forgotten the signal of a response
 * that is under way, once Node has collected its garbage.
 */
export async function* readParts(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel);
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}
