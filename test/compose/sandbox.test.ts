import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startSandboxService } from '#compose/sandbox.ts';
import { systemClock } from '#shared/clock.ts';
import { temporaryFolder } from '../support/folder.ts';
import { logOutputTo } from '../support/log-output.ts';

test('a start that is stopped half-way ends before it listens, and leaves no folder', async () => {
  const folder = temporaryFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const stopping = new AbortController();
  const lines: string[] = [];
  const logOutput = logOutputTo((line) => {
    lines.push(line);
    if (line.includes('sandbox started')) stopping.abort(new Error('stopped'));
  });
  const print = vi.fn<(text: string) => void>();
  const start = startSandboxService(
    { environment: {}, clock: systemClock, logOutput },
    { port: '0', print, stopping: stopping.signal },
  );
  await expect(start).rejects.toThrow('stopped');
  expect(lines.join('')).not.toContain('listening');
  expect(print).not.toHaveBeenCalled();
  expect(readdirSync(folder)).toEqual([]);
});
