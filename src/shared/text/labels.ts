/** Label names compare in this form: GitHub treats names that differ only in case as one. */
export function foldLabel(name: string): string {
  return name.trim().toLowerCase();
}

/** Folded, each once, in one fixed order. */
export function foldLabels(names: readonly string[]): string[] {
  return [...new Set(names.map(foldLabel))].sort();
}

/** Label names from repeated and comma-separated parameter values; blanks are dropped. */
export function splitLabels(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** True when the issue carries every one of the folded names. */
export function carriesAll(
  { labels }: { labels: readonly string[] },
  folded: readonly string[],
): boolean {
  for (const name of folded) if (!carries(labels, name)) return false;
  return true;
}

/** Most names are written as they are folded. Remembering the folded ones costs more than this. */
function carries(labels: readonly string[], folded: string): boolean {
  return labels.includes(folded) || labels.some((label) => foldLabel(label) === folded);
}
