/** Label names compare in this form: GitHub treats names that differ only in case as one. */
export function foldLabel(name: string): string {
  return name.trim().toLowerCase();
}
