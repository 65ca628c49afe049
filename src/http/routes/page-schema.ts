import { z } from 'zod';
import { queryInteger } from './common-schema.ts';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 50;
/** Longer than any cursor of ours, so that one with something added is told as altered. */
const CURSOR_CHARACTERS_MAX = 7168;

/** The two query parameters of every list. */
export const pageParameters = {
  limit: queryInteger({ min: 1, max: LIMIT_MAX, fallback: LIMIT_DEFAULT }).meta({
    description: 'How many items a page holds.',
  }),
  cursor: z
    .string('must be given once')
    .max(CURSOR_CHARACTERS_MAX, 'is too long')
    .exactOptional()
    .meta({
      description:
        '`pagination.nextCursor` of the page before. It repeats the filters: those beside it must be the same, or be left out.',
    }),
};
