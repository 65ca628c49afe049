import { spawnSync } from 'node:child_process';

/**
 * The shells that this machine has, each as people use it: interactive ones take no comments (zsh)
 * and read `!` as history.
 */
export const shells: readonly (readonly string[])[] = [
  ['sh'],
  ['bash', '--norc', '-i'],
  ['zsh', '-f', '-i'],
].filter(([shell = '']) => spawnSync(shell, ['-c', ':']).status === 0);

type Pasted = { lines: string[]; complaints: string[] };

/** Pastes a text into a shell: what it printed, and what the shell itself did not like. */
export function paste([shell = '', ...options]: readonly string[], text: string): Pasted {
  const { stdout, stderr } = spawnSync(shell, options, {
    input: `${text}\nexit\n`,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], PS1: '', PS2: '' },
  });
  return {
    lines: stdout.split('\n'),
    complaints: stderr
      .split('\n')
      .filter((line) => line.includes(`${shell}: `) && !/job control|process group/.test(line)),
  };
}
