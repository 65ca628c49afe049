import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

export type Watched = {
  page: Page;
  /** Errors and warnings of the console, scripts that threw, refusals of the page's own policy. */
  complaints: string[];
  /** Origins that were asked for anything. */
  origins: Set<string>;
};

/** A machine that is busy with other things as well makes a test slow, and not fail. */
const PATIENCE_MS = 100_000;

/** A page of a profile of its own that keeps what went wrong; gone after the test. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const usual = { viewport: { width: 1280, height: 900 }, timezoneId: 'UTC' };
  const context = await browser.newContext({ ...usual, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:') origins.add(origin);
  });
  return { page, complaints, origins };
}
