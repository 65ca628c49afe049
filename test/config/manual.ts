/** Comment lines, and below them a key, be it set or shown as an example behind `#`. */
const EXPLAINED_KEY = /^((?: *#(?: .*)?\n)*)( *)#?(- )?([\w-]+):/gm;

/**
 * Reads the comments of `config/default.yaml` on its keys, by key path. A key's comment
 * stands right above it.
 */
export function readManual(text: string): Map<string, string> {
  const explained = new Map<string, string>();
  let above: { indent: number; key: string }[] = [];
  for (const [, block = '', spaces = '', dash = '', key = ''] of text.matchAll(EXPLAINED_KEY)) {
    const indent = spaces.length + dash.length;
    above = [...above.filter((parent) => parent.indent < indent), { indent, key }];
    const path = above.map((parent) => parent.key).join('.');
    const comment = block
      .replaceAll(/^ *# ?/gm, '')
      .trim()
      .replaceAll('\n', ' ');
    if (comment !== '' && !explained.has(path)) explained.set(path, comment);
  }
  return explained;
}

/** The comment on a key path; `*` in it stands for any name that the file gives. */
export function findExplained(
  manual: ReadonlyMap<string, string>,
  path: string,
): string | undefined {
  const wanted = path.split('.');
  for (const [explained, comment] of manual) {
    const parts = explained.split('.');
    const fits = (part: string, at: number): boolean => wanted[at] === part || wanted[at] === '*';
    if (parts.length === wanted.length && parts.every(fits)) return comment;
  }
  return undefined;
}
