/**
 * Port: spans of a distributed trace. Whoever has no `Tracing` traces nothing and pays nothing.
 * A span holds ids, route templates, codes and numbers; never personal data, secrets or addresses.
 */
export type Tracing = {
  /** Starts a span below the one that runs here, unless the options name another parent. */
  start(name: string, options?: SpanOptions): Span;
  /** The W3C `traceparent` of the span that runs here. */
  current(): string | undefined;
};

type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type SpanOptions = {
  /** Default `internal`. */
  kind?: 'server' | 'client' | 'consumer' | 'internal';
  attributes?: SpanAttributes;
  /** A W3C `traceparent` of ours; one that cannot be read counts as none. */
  parent?: string;
  /** Begins a trace of its own. */
  isRoot?: boolean;
  /** A `traceparent` from outside, which the span only points at; nothing when it cannot be read. */
  link?: string;
  /** Age of work that began earlier, in ms; default 0. */
  startedAgoMs?: number;
};

export type Span = {
  /** Runs `work` so that what it starts, now or later, is below this span. */
  run<T>(work: () => T): T;
  set(attributes: SpanAttributes): void;
  /** With the code of what went wrong, if anything did. */
  end(errorType?: string): void;
};

/** Runs `work` in a span that ends with it; without `tracing` it only runs. */
export async function traced<T>(
  tracing: Tracing | undefined,
  { name, ...options }: SpanOptions & { name: string },
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (!tracing) return work(undefined);
  const span = tracing.start(name, options);
  try {
    const result = await span.run(() => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(typeOf(error));
    throw error;
  }
}

/** Messages can hold data of people: only the code or the class is told. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : error.name;
}
