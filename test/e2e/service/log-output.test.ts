import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { plainEnvironment, programFile } from '../../support/program.ts';
import { createWorld } from '../support/world.ts';

type Pipe = {
  /** Standard output of a process. */
  writeEnd: number;
  /** Text that the reader would read now; empty when there is none. */
  read(): string;
  /** Leaves no room for another byte. */
  fill(): void;
  /** The reader goes away. */
  breakOff(): void;
};

/** A real pipe: what Node gives a child by itself is a pair of sockets. */
function createPipe(): Pipe {
  const name = path.join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [name]);
  const open = new Set<number>();
  const hold = (flags: number): number => {
    const end = openSync(name, flags);
    open.add(end);
    return end;
  };
  const close = (end: number): void => {
    if (open.delete(end)) closeSync(end);
  };
  onTestFinished(() => {
    for (const end of open) close(end);
  });
  const readEnd = hold(constants.O_RDONLY | constants.O_NONBLOCK);
  const writeEnd = hold(constants.O_WRONLY);
  return {
    writeEnd,
    read: () => {
      const room = Buffer.alloc(65_536);
      const count = orNone(() => readSync(readEnd, room));
      return room.toString('utf8', 0, count);
    },
    fill: () => {
      const writer = hold(constants.O_WRONLY | constants.O_NONBLOCK);
      for (const size of [4096, 1])
        while (orNone(() => writeSync(writer, Buffer.alloc(size, '.'))) > 0);
      close(writer);
    },
    breakOff: () => close(readEnd),
  };
}

function orNone(work: () => number): number {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}

type Started = { child: ChildProcess; url: string; exited: Promise<number | null> };

/** The program with this file descriptor as its standard output, once it answers. */
async function startOn(output: number, args: readonly string[]): Promise<Started> {
  const port = await freePort();
  const child = spawn(process.execPath, [programFile(), ...args, '--port', String(port)], {
    stdio: ['ignore', output, 'ignore'],
    env: { ...plainEnvironment(), TMPDIR: temporaryFolder() },
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => expect((await fetch(`${url}/healthz`)).status).toBe(200));
  return { child, url, exited };
}

test.each(['a full pipe', 'a broken pipe', 'a full disk'])(
  '%s keeps nothing from serving or stopping',
  async (kind) => {
    const { config } = await createWorld();
    const pipe = createPipe();
    if (kind === 'a full pipe') pipe.fill();
    const output = kind === 'a full disk' ? openSync('/dev/full', 'w') : pipe.writeEnd;
    const { child, url, exited } = await startOn(output, ['serve', '--config', config]);
    if (kind === 'a broken pipe') pipe.breakOff();

    for (let at = 0; at < 3; at += 1) expect((await fetch(`${url}/nowhere`)).status).toBe(404);
    child.kill('SIGTERM');

    expect(await exited).toBe(0);
  },
);

test('a second signal ends the process at once, with a full pipe, too', async () => {
  const { tracker, config, key } = await createWorld();
  const pipe = createPipe();
  pipe.fill();
  const { child, url, exited } = await startOn(pipe.writeEnd, ['serve', '--config', config]);
  const gate = tracker.hold({ path: '/issues$' });
  const inFlight = fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  const outcome = inFlight.catch((error: unknown) => error);
  await gate.arrived();
  child.kill('SIGTERM');
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(503));

  await eventually(() => {
    child.kill('SIGTERM');
    expect(child.exitCode).toBe(1);
  });

  expect(await exited).toBe(1);
  expect(await outcome).toBeInstanceOf(TypeError);
  gate.open();
});

test('a reader that is slow misses no line of a stop', async () => {
  const { config } = await createWorld({ partners: {} });
  const pipe = createPipe();
  pipe.fill();
  const { child, exited } = await startOn(pipe.writeEnd, ['serve', '--config', config]);
  let text = '';
  child.kill('SIGTERM');
  await eventually(() => {
    text += pipe.read();
    expect(text).toContain('"msg":"stopped"');
  });
  expect(await exited).toBe(0);
  expect(text).toMatch(/"msg":"listening"\}\n.*"msg":"stopping"\}\n.*"msg":"stopped"\}\n$/);
});
