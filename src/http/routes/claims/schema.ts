import { z } from 'zod';
import { pageParameters } from '../../requests/parameters.ts';

export const claimListQuery = z.strictObject(pageParameters);
