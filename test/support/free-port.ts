import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what the kernel gives to connections and to servers on port 0, which would take them again. */
const FIRST = 20_000;
const COUNT = 12_000;

/** A port that nobody listens on, and that nobody gets by chance while a process is started on it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
