/**
 * Finds the files of `src` by their names alone. Node looks at the disk, at package.json and at the folders
 * above for each of the 800 imports of ours in a start, which names with `.ts` at their end do not need.
 */
import { registerHooks } from 'node:module';

const src = new URL('../src/', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, resolve) => {
    const found = ours(specifier, context.parentURL) ?? nothing(specifier, context.parentURL);
    return found ? { ...found, shortCircuit: true } : resolve(specifier, context);
  },
});

/** `#folder/…` stands for `src/folder/…`, but for the sandbox, which an install may lack: Node says that. */
function ours(specifier, parentUrl) {
  if (!specifier.endsWith('.ts')) return undefined;
  const format = 'module-typescript';
  if (specifier.startsWith('#'))
    return specifier.startsWith('#sandbox/')
      ? undefined
      : { url: src + specifier.slice(1), format };
  const isOurs = specifier.startsWith('.') && parentUrl?.startsWith(src);
  return isOurs ? { url: new URL(specifier, parentUrl).href, format } : undefined;
}

/** What zod says in 60 languages, a file each. It takes the English ones, which stay, by their own name. */
function nothing(specifier, parentUrl) {
  const isUnused = specifier === '../locales/index.js' && parentUrl?.includes('/node_modules/zod/');
  return isUnused ? { url: 'data:text/javascript,', format: 'module' } : undefined;
}
