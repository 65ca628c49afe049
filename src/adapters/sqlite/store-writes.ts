import type { Session } from '../store/session.ts';

const FILL = 'UPDATE write_check SET filler = zeroblob(@bytes)';

export const checkWrites = {
  fill: async (session: Session, bytes: number): Promise<void> => {
    await session.run(FILL, { bytes });
  },
};
