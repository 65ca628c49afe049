/** Edits of salespeople to the body of a lead. */
export const edits = [
  'nothing',
  'note-above',
  'note-between',
  'note-below',
  'note-behind',
  'corrected-email',
  'moved-block',
  'cut-block',
] as const;
export type Edit = (typeof edits)[number];

/** These take an identity out of the body: only what was seen before can be known. */
export function takesAway(edit: Edit): boolean {
  return edit === 'corrected-email' || edit === 'moved-block' || edit === 'cut-block';
}

const BLOCK = /\n*<!-- trackport\n[^]*?-->/;
export const NOTE = 'Called again, no answer.';

/** The body after the edit. */
export function editBody(
  body: string,
  edit: Edit,
  { email, correctedEmail }: { email: string; correctedEmail: string },
): string {
  const block = BLOCK.exec(body)?.[0].trim() ?? '';
  const after: Record<Edit, () => string> = {
    nothing: () => body,
    'note-above': () => `A colleague asked for them.\n\n${body}`,
    'note-between': () => body.replace('### Email', 'They prefer mail:\n### Email'),
    'note-below': () => body.replace('\nTortured Ada\n', '\nTortured Ada\nin the mornings\n'),
    'note-behind': () => `${body}\n${NOTE}`,
    'corrected-email': () =>
      body.replace(`### Email\n\n${email}`, `### Email\n\n${correctedEmail}`),
    'moved-block': () => `${block}\n\n${body.replace(BLOCK, '')}`,
    'cut-block': () => body.replace(BLOCK, ''),
  };
  return after[edit]();
}
