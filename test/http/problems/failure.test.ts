import { expect, test } from 'vitest';
import { fromParserError, toTrackportError } from '#http/problems/failure.ts';
import { TrackportError } from '#shared/errors.ts';

const coded = (code: string) => Object.assign(new Error('theirs'), { code });

test('an error of ours stays what it is', () => {
  const ours = new TrackportError('lead-not-found');
  expect(toTrackportError(ours)).toBe(ours);
});

test.each([
  ['FST_ERR_BAD_URL', 'bad-request'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'uri-too-long'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported-media-type'],
])('%s of the framework becomes %s, with its reason', (theirs, code) => {
  const error = coded(theirs);
  expect(toTrackportError(error)).toMatchObject({ code, cause: error });
});

test.each([coded('ENOENT'), 'a text', 7])('%s is a mistake of ours', (error) => {
  const failure = toTrackportError(error);
  expect(failure).toMatchObject({ code: 'internal-error', cause: error });
  expect(failure.detail).not.toContain('theirs');
});

test.each([
  ['HPE_HEADER_OVERFLOW', 'headers-too-large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request-timeout'],
  ['HPE_INVALID_METHOD', 'bad-request'],
])('%s of the parser becomes %s', (theirs, code) => {
  expect(fromParserError(coded(theirs))).toMatchObject({ code });
});
