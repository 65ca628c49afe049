import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const SWITCHES = [
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The browser that `CHROMIUM_PATH` names, else the first that is installed. */
export function findChromium(): string | undefined {
  const places = [process.env['CHROMIUM_PATH'] ?? PLACES].flat();
  return places.find((place) => existsSync(place));
}

/** Chromium refuses to sandbox itself for root. */
export function launchChromium(executablePath: string): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  const args = isRoot ? [...SWITCHES, '--no-sandbox'] : SWITCHES;
  return chromium.launch({ executablePath, args });
}

export type Watched = {
  page: Page;
  /** Errors and warnings of the console, scripts that threw, refusals of the page's own policy. */
  complaints: string[];
  /** Origins that were asked for anything. */
  origins: Set<string>;
};

/** A page of a profile of its own that keeps what went wrong; gone after the test. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
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

/** True when nothing sticks out of the window at the right. */
export function fitsWidth(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth <= visualViewport.width');
}
