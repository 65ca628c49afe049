import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { createLogOutput } from '#adapters/pino/log.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';

const LONG_MS = 60_000;

/** An output to a real pipe, and how its reader reads or goes away. */
function openPipe() {
  const name = path.join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [name]);
  const reader = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  let isOpen = true;
  const breakOff = (): void => {
    if (isOpen) closeSync(reader);
    isOpen = false;
  };
  onTestFinished(breakOff);
  const output = createLogOutput(systemClock, () =>
    openSync(name, constants.O_WRONLY | constants.O_NONBLOCK),
  );
  output.open();
  const room = Buffer.alloc(65_536);
  const read = (): string => {
    try {
      return room.toString('utf8', 0, readSync(reader, room));
    } catch {
      return '';
    }
  };
  return { output, read, breakOff };
}

test('lines arrive in order, all of them by the end', async () => {
  const name = path.join(temporaryFolder(), 'log');
  const output = createLogOutput(systemClock, () => openSync(name, 'w'));
  output.open();
  const lines = Array.from({ length: 2000 }, (_, at) => `${at} ${'ü'.repeat(100)}\n`);
  for (const line of lines) output.write(line);
  await output.close(LONG_MS);
  expect(readFileSync(name, 'utf8')).toBe(lines.join(''));
  expect(output.droppedLines()).toBe(0);
  output.write('late\n');
  expect(output.droppedLines()).toBe(1);
});

test('what waits for a reader is bounded, the rest counted, and whole lines go on', async () => {
  const { output, read } = openPipe();
  const line = (at: number): string => `${String(at).padStart(6)} ${'x'.repeat(1016)}\n`;
  for (let at = 0; at < 1124; at += 1) output.write(line(at));
  expect(output.droppedLines()).toBe(100);
  let text = '';
  await eventually(() => {
    text += read();
    expect(text).toHaveLength(1024 * 1024);
  });
  output.write('again\n');
  await eventually(() => {
    text += read();
    expect(text.endsWith(`${line(1023)}again\n`)).toBe(true);
  });
});

test('the end waits for a reader no longer than it may', async () => {
  const { output } = openPipe();
  output.write('x'.repeat(500_000));
  await output.close(1);
  expect(output.droppedLines()).toBe(0);
});

test('without a reader nothing is thrown, and the end does not wait', async () => {
  const { output, breakOff } = openPipe();
  breakOff();
  output.write('nobody reads this\n');
  await systemClock.sleep(20);
  output.write('nor this\n');
  await output.close(LONG_MS);
  expect(output.droppedLines()).toBe(0);
});

test('nothing is touched before a service opens it', async () => {
  const output = createLogOutput(systemClock, () => {
    throw new Error('opened');
  });
  expect(output.isOpen()).toBe(false);
  await output.close(LONG_MS);
  expect(() => output.open()).toThrow('opened');
});
