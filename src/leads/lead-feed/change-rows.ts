import type { LeadChange, Span } from './lead-change.ts';

export const CHANGE_COLUMNS = 'number, position, is_visible, updated_at, labels, look, carried';

/** JSON comes as its text. */
export type ChangeRow = Omit<LeadChange, 'labels' | 'carried'> & {
  labels: string;
  carried: string;
};

export function toChange(row: ChangeRow): LeadChange {
  return {
    ...row,
    labels: JSON.parse(row.labels) as string[],
    carried: JSON.parse(row.carried) as Span[],
  };
}
