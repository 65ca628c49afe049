import type { FastifyRequest } from 'fastify';

/** Every value that a header came with, in order: Node itself would join or drop repeated ones. */
export function headerValues(request: Pick<FastifyRequest, 'raw'>, name: string): string[] {
  const { rawHeaders } = request.raw;
  const wanted = name.toLowerCase();
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === wanted,
  );
}
