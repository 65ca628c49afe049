import { describe, expect, test } from 'vitest';
import { CommandFailure, UsageError } from '#cli/command.ts';
import { renderFailure, toFailure } from '#cli/cli.ts';
import { StartError } from '#compose/start-error.ts';
import { StoreRefusal } from '#shared/database.ts';
import { describeBug } from '#shared/log.ts';
import { ConfigError } from '#config/problems.ts';
import { TrackportError } from '#shared/errors.ts';

const problem = { path: 'server.port', found: '-1', allowed: 'a port' };
const errors = [{ parameter: 'name', code: 'too-long', detail: 'Shorter.' }];

describe('a failure of a command', () => {
  test.each([
    [
      'a wrong command line',
      new UsageError('Give either --out or --check.'),
      { exitCode: 2, code: 'usage', detail: 'Give either --out or --check.' },
    ],
    [
      'a wrong configuration, with every problem',
      new ConfigError('trackport.yaml', [problem]),
      {
        exitCode: 2,
        code: 'invalid-configuration',
        detail: 'trackport.yaml has a problem:\n  server.port: found -1, expected a port',
        facts: { problems: [problem] },
      },
    ],
    [
      'a start that failed, which may succeed later',
      new StartError('The port is in use.'),
      { exitCode: 1, code: 'start-failed', detail: 'The port is in use.' },
    ],
    [
      'a store that is somebody else’s',
      new StartError('It is in use.', { cause: new StoreRefusal('another') }),
      { exitCode: 2, code: 'start-failed', detail: 'It is in use.' },
    ],
    [
      'a result that is a failure',
      new CommandFailure('1 of 3 failed.'),
      { exitCode: 1, code: 'failed', detail: '1 of 3 failed.' },
    ],
    [
      'something expected, with what is allowed',
      new TrackportError('not-a-draft', { detail: 'No.', extensions: { allowed: ['retire'] } }),
      { exitCode: 1, code: 'not-a-draft', detail: 'No.', facts: { allowed: ['retire'] } },
    ],
    [
      'a wrong value, with each one',
      new TrackportError('validation-failed', { detail: 'Shorter.', errors }),
      { exitCode: 2, code: 'validation-failed', detail: 'Shorter.', facts: { errors } },
    ],
    [
      'something expected that has no text',
      new TrackportError('overloaded'),
      { exitCode: 1, code: 'overloaded', detail: 'overloaded' },
    ],
  ])('%s', (_name, error, failure) => {
    expect(toFailure(error)).toEqual(failure);
  });

  test('a bug shows names and places, never a message', () => {
    const failure = toFailure(new RangeError('a-secret'));
    expect(failure).toMatchObject({ exitCode: 1, code: 'internal-error' });
    expect(failure.detail).toMatch(/^Unexpected failure: RangeError\n +at /);
    expect(failure.detail).not.toContain('a-secret');
    expect(describeBug('a-secret')).toBe('Unexpected failure: string');
  });
});

describe('what is written of it', () => {
  const failure = toFailure(
    new TrackportError('validation-failed', { detail: 'Shorter.', errors }),
  );

  test('is its text for a person', () => {
    expect(renderFailure(failure, { isJson: false })).toBe('Shorter.');
  });

  test('is one JSON document for a program', () => {
    expect(JSON.parse(renderFailure(failure, { isJson: true }))).toEqual({
      error: { code: 'validation-failed', detail: 'Shorter.', errors },
    });
  });

  test('is nothing when all was said before', () => {
    for (const isJson of [true, false])
      expect(renderFailure(toFailure(new CommandFailure()), { isJson })).toBe('');
  });
});
