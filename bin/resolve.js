/**
 * Finds the files of `src` by their names alone. Node looks at the disk, at package.json and at the folders
 * above for each of the 800 imports of ours in a start, which names with `.ts` at their end do not need.
 */
import { registerHooks } from 'node:module';

const src = new URL('../src/', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, resolve) => {
    const url = specifier.endsWith('.ts') ? urlOf(specifier, context.parentURL) : undefined;
    if (url === undefined) return resolve(specifier, context);
    return { url, format: 'module-typescript', shortCircuit: true };
  },
});

/** `#folder/…` stands for `src/folder/…`, but for the sandbox, which an install may lack: Node says that. */
function urlOf(specifier, parentUrl) {
  if (specifier.startsWith('#'))
    return specifier.startsWith('#sandbox/') ? undefined : src + specifier.slice(1);
  const isOurs = specifier.startsWith('.') && parentUrl?.startsWith(src);
  return isOurs ? new URL(specifier, parentUrl).href : undefined;
}
