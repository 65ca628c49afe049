import type { FastifyRequest } from 'fastify';
import { TrackportError } from '#shared/errors.ts';

/** Every value that a header came with, in order: Node itself would join or drop repeated ones. */
export function headerValues(request: Pick<FastifyRequest, 'raw'>, name: string): string[] {
  const { rawHeaders } = request.raw;
  const wanted = name.toLowerCase();
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === wanted,
  );
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
/** JSON as such, or in a type that is made of it (RFC 6839 section 3.1). */
export const ANY_JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json\s*(?:;|$)/i;

/**
 * The request must be called JSON even when it has no body; its charset and encoding are the concern
 * of `mediaTypeProblem`. @throws {unsupported-media-type}
 */
export function requireJson(
  { headers }: Pick<FastifyRequest, 'headers'>,
  type: RegExp = JSON_TYPE,
): void {
  const isAny = type === ANY_JSON_TYPE;
  if (!type.test((headers['content-type'] ?? '').trim())) throw notJson(isAny);
}

/** The 415 of a body that is not called JSON; `isAny` where every type of JSON is taken. */
export function notJson(isAny = false): TrackportError {
  const others = isAny ? ', or as another type of JSON (`application/…+json`)' : '';
  return unsupported(`Send the body as \`Content-Type: application/json\`${others}.`);
}

/** The 415 of a compressed body, or one of another charset than UTF-8; null when neither is so. */
export function mediaTypeProblem({
  headers,
}: Pick<FastifyRequest, 'headers'>): TrackportError | null {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  if (listedIn(encoding).some((one) => one !== 'identity'))
    return unsupported('Send the body without a `Content-Encoding`.');
  const charset = type === '' ? undefined : /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    return unsupported('Send the body in UTF-8.');
  return null;
}

function unsupported(detail: string): TrackportError {
  return new TrackportError('unsupported-media-type', { detail });
}

/** The elements of a header that is a list, in lower case; empty ones count for nothing (RFC 9110 §5.6.1). */
function listedIn(header: string): string[] {
  return header
    .split(',')
    .map((element) => element.trim().toLowerCase())
    .filter((element) => element !== '');
}

/** Former names of YAML's media type (RFC 9512). Responses never have them. */
const FORMER_NAMES = new Set(['application/x-yaml', 'text/yaml', 'text/x-yaml']);

/** True when `Accept` wants YAML more than JSON (RFC 9110 §12.5.1). Without it JSON is wanted. */
export function prefersYaml(accept: string | undefined): boolean {
  const ranges = rangesIn(accept ?? '*/*');
  const former = ranges.filter(({ type }) => FORMER_NAMES.has(type));
  const quality = Math.max(
    qualityIn(ranges, 'application/yaml'),
    ...former.map((range) => range.quality),
  );
  return quality > qualityIn(ranges, 'application/json');
}

/**
 * True when `Accept` wants `type` more than JSON: by weight, then by how closely it names them, then by their order.
 * Whoever takes anything gets JSON.
 */
export function prefers(type: 'text/event-stream' | 'application/jwt', accept = ''): boolean {
  const ranges = rangesIn(accept);
  const other = closestIn(ranges, type);
  const json = closestIn(ranges, 'application/json');
  if (!other || other.quality === 0) return false;
  if (!json || other.quality !== json.quality) return other.quality > (json?.quality ?? 0);
  if (other.distance !== json.distance) return other.distance < json.distance;
  return other.place < json.place;
}

type Range = { type: string; quality: number };

function rangesIn(accept: string): Range[] {
  return listedIn(accept).map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = Number(parameters.find((one) => one.startsWith('q='))?.slice('q='.length) ?? 1);
    return { type, quality: Number.isNaN(quality) ? 0 : quality };
  });
}

/** The range that names a type most closely: it decides. */
function closestIn(ranges: readonly Range[], type: string) {
  const names = [type, type.replace(/\/.*/, '/*'), '*/*'];
  const distance = names.findIndex((name) => ranges.some((range) => range.type === name));
  const place = ranges.findIndex((range) => range.type === names[distance]);
  const range = ranges[place];
  return range && { quality: range.quality, distance, place };
}

function qualityIn(ranges: readonly Range[], type: string): number {
  return closestIn(ranges, type)?.quality ?? 0;
}
