import type { Sessions } from '#access/sessions/sessions.ts';
import type { Catalog } from '#catalog/index.ts';
import type { ReadSpecText } from '#catalog/spec/spec-text.ts';
import type { Clock } from '#shared/clock.ts';

export type CatalogPagesDeps = {
  catalog: Catalog;
  /** Specs as people write them, JSON or YAML. */
  readSpecText: ReadSpecText;
  /** Hold what is too long for a form that came back. */
  sessions: Pick<Sessions, 'hold' | 'held'>;
  clock: Pick<Clock, 'now'>;
};
