import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Without a window, for half the work. It keeps no page in memory for *Back*. */
const SHELL = '/usr/bin/chromium-headless-shell';
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

/** The browser that `CHROMIUM_PATH` names, else the first that is installed; a whole one on demand. */
export function findChromium({ isWhole = false } = {}): string | undefined {
  const places = [process.env['CHROMIUM_PATH'] ?? [...(isWhole ? [] : [SHELL]), ...PLACES]].flat();
  return places.find((place) => existsSync(place));
}

/** Chromium refuses to sandbox itself for root. `without`: switches of Playwright that are left out. */
export function launchChromium(executablePath: string, without: string[] = []): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  const args = isRoot ? [...SWITCHES, '--no-sandbox'] : SWITCHES;
  return chromium.launch({ executablePath, args, ignoreDefaultArgs: without });
}
