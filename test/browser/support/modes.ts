import type { BrowserContextOptions } from 'playwright-core';
import type { Watched } from '../../e2e/support/browser.ts';
import { byKeyboard } from './keyboard.ts';
import { type OpenPage, WITHOUT_SCRIPT } from './portal.ts';

type Mode = { name: string; options: BrowserContextOptions; byKeyboard?: boolean };

/**
 * How every flow of the portal has to work. The script listens to no key, and flows with script and
 * pointer stand beside them: the other two pairs would see nothing that these do not.
 */
export const modes: [string, Mode][] = [
  ['without script', { name: 'plain', options: WITHOUT_SCRIPT }],
  ['by keyboard alone', { name: 'keys', options: {}, byKeyboard: true }],
];

/** A page that is worked in that mode. */
export async function openIn(mode: Mode, open: OpenPage): Promise<Watched> {
  const opened = await open(mode.options);
  return mode.byKeyboard === true ? { ...opened, page: byKeyboard(opened.page) } : opened;
}
