import { z } from 'zod';

/** An instant as `toRfc3339` writes it. */
export const instantOut = z.string().meta({ format: 'date-time' });
