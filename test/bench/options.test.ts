import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const run = (...argumentsGiven: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, argumentsGiven, {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

test.each([
  ['bench/run.ts', '--only'],
  ['bench/torture.ts', '--minutes'],
])('%s --help names its options and runs nothing', (program, option) => {
  expect(run(program, '--help')).toMatchObject({ status: 0, stderr: '' });
  expect(run(program, '--help').stdout).toContain(option);
});

test.each([
  ['bench/run.ts', ['--runs', '0'], '--runs wants a number above 0'],
  ['bench/run.ts', ['--only', '('], '--only wants a regular expression'],
  ['bench/run.ts', ['--only', 'nothing'], '--only picks none of the groups'],
  ['bench/torture.ts', ['--instances', '1.5'], '--instances wants a whole number'],
  ['bench/torture.ts', ['--hours', '1'], "Unknown option '--hours'"],
])('%s %s is refused in one line', (program, options, detail) => {
  const stderr = `${detail} (--help shows the options)\n`;
  expect(run(program, ...options)).toStrictEqual({ status: 2, stdout: '', stderr });
});
