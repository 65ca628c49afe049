/** What each of several processes runs that serve together. The primary process starts it. */
process.setSourceMapsEnabled(true);
const { runChild } = await import('./child.ts');
runChild();
