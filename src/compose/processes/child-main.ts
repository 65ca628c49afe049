/** What each of several processes runs that serve together. The primary process starts it. */
import '../../../bin/prepare.js';

const { runChild } = await import('./child.ts');
runChild();
