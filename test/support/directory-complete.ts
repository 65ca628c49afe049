import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when a service has read all issues for the first time. */
export async function untilDirectoryIsComplete(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/readyz`);
    const { checks } = (await answer.json()) as { checks: Record<string, { state: string }> };
    if (checks['directory']?.state === 'complete') return;
    await sleep(20);
  }
}
