import { together } from '../session.ts';
import { acceptAll } from './accept.ts';
import { replayWrites } from './replay.ts';

export const receiptWrites = { accept: together(acceptAll), ...replayWrites };
