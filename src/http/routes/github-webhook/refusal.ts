import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '#shared/errors.ts';
import { toTrackportError } from '../../problems/framework-errors.ts';

/** Why a delivery of the tracker was refused, for operators. */
export type TrackerRefusal =
  | 'signature-missing'
  | 'signature-malformed'
  | 'signature-wrong'
  | 'content-type'
  | 'too-large'
  | 'malformed';

const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

/** Whether `X-Hub-Signature-256` has the form of a signature. */
export function isSignature(header: string | string[] | undefined): boolean {
  return typeof header === 'string' && SIGNATURE.test(header);
}

const REASONS: Readonly<Partial<Record<ErrorCode, TrackerRefusal>>> = {
  'unsupported-media-type': 'content-type',
  'payload-too-large': 'too-large',
  'malformed-json': 'malformed',
};

/**
 * Why a request failed; undefined for what says nothing about the webhook, such as a connection that
 * broke or our own load, and for requests without the header that the tracker always sends: those of
 * scanners.
 */
export function trackerRefusalOf(
  { headers }: Pick<FastifyRequest, 'headers'>,
  error: unknown,
): TrackerRefusal | undefined {
  if (headers['x-github-event'] === undefined) return undefined;
  const { code } = toTrackportError(error);
  if (code !== 'unauthorized' && code !== 'quota-exceeded') return REASONS[code];
  const signature = headers['x-hub-signature-256'];
  if (signature === undefined || signature === '') return 'signature-missing';
  return isSignature(signature) ? 'signature-wrong' : 'signature-malformed';
}
