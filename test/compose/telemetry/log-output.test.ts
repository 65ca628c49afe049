import { expect, test } from 'vitest';
import { createLogOutput, type LogFile } from '../../../src/compose/telemetry/log-output.ts';
import { createFakeClock } from '../../support/clock.ts';

type FakeFile = LogFile & {
  text(): string;
  /** What the next writes meet: an error's code, or how many bytes there is room for. */
  meet(...fates: (string | number)[]): void;
};

/** A file that takes everything, once what it was told to meet is over. */
function createFakeFile(): FakeFile {
  let text = '';
  let fates: (string | number)[] = [];
  const takeSome = (bytes: Buffer): number => {
    const fate = fates.shift() ?? bytes.length;
    if (typeof fate === 'string') throw Object.assign(new Error('no'), { code: fate });
    text += bytes.toString('utf8', 0, fate);
    return Math.min(fate, bytes.length);
  };
  return {
    text: () => text,
    meet: (...next) => {
      fates = next;
    },
    writeNow: takeSome,
    write: (bytes, done) => {
      setImmediate(() => {
        let written = 0;
        try {
          written = takeSome(bytes);
        } catch (error) {
          return done(error as Error, 0);
        }
        done(null, written);
      });
    },
  };
}

function setUp() {
  const file = createFakeFile();
  const clock = createFakeClock();
  const output = createLogOutput({ clock, openFile: () => file });
  output.open();
  /** Lets writes under way come to their end or to a wait. */
  const turn = async (): Promise<void> => {
    for (let at = 0; at < 10; at += 1) await clock.advance(0);
  };
  return { file, clock, output, turn };
}

const whole = (text: string): string[] => text.split('\n').filter((line) => line !== '');

test('lines arrive in order, those that come during a write together with the next', async () => {
  const { file, output, turn } = setUp();
  for (const line of ['a\n', 'b\n', 'c\n']) output.write(line);
  await turn();
  expect(file.text()).toBe('a\nb\nc\n');
  output.write('d\n');
  await turn();
  expect(file.text()).toBe('a\nb\nc\nd\n');
  expect(output.droppedLines()).toBe(0);
});

test('a pipe that is full for a while costs no line', async () => {
  const { file, clock, output, turn } = setUp();
  file.meet('EAGAIN', 2, 'EAGAIN', 0, 'EAGAIN', 1);
  output.write('first\n');
  output.write('second\n');
  for (let waits = 0; waits < 8; waits += 1) {
    await turn();
    await clock.advance(50);
  }
  await turn();
  expect(file.text()).toBe('first\nsecond\n');
  expect(output.droppedLines()).toBe(0);
});

test.each(['EPIPE', 'ENOSPC', 'EIO', 'EBADF'])(
  'with %s lines are dropped and counted, and the log goes on when the fault is over',
  async (code) => {
    const { file, clock, output, turn } = setUp();
    file.meet(code);
    output.write('lost\n');
    await turn();
    expect(output.droppedLines()).toBe(1);
    output.write('kept\n');
    await turn();
    expect(file.text()).toBe('');
    await clock.advance(1000);
    await turn();
    expect(file.text()).toBe('kept\n');
    expect(output.droppedLines()).toBe(1);
  },
);

test('a line that was torn stands alone, however often the disk is full', async () => {
  const { file, clock, output, turn } = setUp();
  file.meet(9, 'ENOSPC', 'ENOSPC', 1, 'ENOSPC');
  output.write('{"n":1}\n');
  output.write('{"n":2}\n');
  await turn();
  expect(output.droppedLines()).toBe(1);
  for (const n of [3, 4, 5]) {
    output.write(`{"n":${n}}\n`);
    await clock.advance(1000);
    await turn();
  }
  expect(output.droppedLines()).toBe(3);
  expect(whole(file.text())).toEqual(['{"n":1}', '{', '{"n":5}']);
});

test('what waits for a reader is bounded, and what is beyond it counted', async () => {
  const { file, output, turn } = setUp();
  file.meet(...Array.from({ length: 100 }, () => 'EAGAIN'));
  const line = `${'x'.repeat(1023)}\n`;
  output.write(line);
  await turn();
  for (let at = 0; at < 1124; at += 1) output.write(line);
  expect(output.droppedLines()).toBe(100);
});

test('a flush waits until all is written, and no longer than it may', async () => {
  const { file, clock, output, turn } = setUp();
  output.write('a\n');
  await output.flush(500);
  expect(file.text()).toBe('a\n');
  file.meet(...Array.from({ length: 1000 }, () => 'EAGAIN'));
  output.write('b\n');
  let isDone = false;
  const flushed = output.flush(500).then(() => (isDone = true));
  await clock.advance(499);
  await turn();
  expect(isDone).toBe(false);
  await clock.advance(1);
  await flushed;
});

test('at the end of the process all is written that can be at once', async () => {
  const { file, output } = setUp();
  output.write('under way\n');
  output.write('a\n');
  output.write('b\n');
  file.meet(3);
  output.flushNow();
  expect(file.text()).toBe('a\nb\n');
  output.write('c\n');
  file.meet('EAGAIN');
  output.flushNow();
  expect(file.text()).toBe('a\nb\n');
});

test('nothing is touched before a service opens it', () => {
  const output = createLogOutput({
    clock: createFakeClock(),
    openFile: () => {
      throw new Error('opened');
    },
  });
  expect(output.isOpen()).toBe(false);
  output.flushNow();
  expect(() => output.open()).toThrow('opened');
});
