/** What each of several processes runs that serve together. The primary process starts it. */
import nodeModule from 'node:module';

nodeModule.enableCompileCache();
const { runChild } = await import('./child.ts');
runChild();
