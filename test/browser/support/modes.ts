import type { BrowserContextOptions } from 'playwright-core';
import type { Watched } from '../../e2e/support/browser.ts';
import { byKeyboard } from './keyboard.ts';
import { WITHOUT_SCRIPT } from './portal.ts';
import type { OpenPage } from './portal.ts';

type Mode = { options: BrowserContextOptions; byKeyboard?: boolean };

/** How every flow of the portal has to work. */
export const modes: [string, Mode][] = [
  ['with script', { options: {} }],
  ['without script', { options: WITHOUT_SCRIPT }],
  ['by keyboard alone', { options: {}, byKeyboard: true }],
  ['by keyboard, without script', { options: WITHOUT_SCRIPT, byKeyboard: true }],
];

/** A page that is worked in that mode. */
export async function openIn(mode: Mode, open: OpenPage): Promise<Watched> {
  const opened = await open(mode.options);
  return mode.byKeyboard === true ? { ...opened, page: byKeyboard(opened.page) } : opened;
}
