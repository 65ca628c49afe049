import type { Watched } from '../../e2e/support/browser.ts';
import { byKeyboard } from './keyboard.ts';
import { type OpenPage, WITHOUT_SCRIPT } from './portal.ts';

/**
 * A page as every flow of the portal has to work: by keyboard alone, and without script, which listens to no
 * key. With script and a pointer people work wherever a test opens pages by itself.
 */
export async function openWorked(open: OpenPage): Promise<Watched> {
  const opened = await open(WITHOUT_SCRIPT);
  return { ...opened, page: byKeyboard(opened.page) };
}
