import { TRAFFIC_DAYS, type TrafficCount, type TrafficStore } from '#partners/traffic.ts';
import { bindWrites, type Session, type StoreDatabase, toRecords } from './session.ts';

/** In the order of the key, so that two instances never wait for each other. */
const ADD = `
  INSERT INTO traffic (sender, kind, detail, day, count, last_at)
  SELECT sender, kind, detail, day, count, last_at FROM jsonb_to_recordset(@counts) AS given
    (sender text, kind text, detail text, day bigint, count bigint, last_at bigint)
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (sender, kind, detail, day) DO UPDATE SET
    count = traffic.count + excluded.count,
    last_at = greatest(traffic.last_at, excluded.last_at)`;

const REMOVE_BEFORE = 'DELETE FROM traffic WHERE day < @day';

const SINCE = 'SELECT sender, kind, detail, day, count, last_at FROM traffic WHERE day >= @day';

/** The record of traffic, whatever the engine. */
export function createTrafficStore(database: StoreDatabase): TrafficStore {
  return {
    ...bindWrites(database.writer.call, 'traffic', trafficWrites),
    readSince: (day) => database.all<TrafficCount>(SINCE, { day }),
  };
}

export const trafficWrites = {
  add: async (session: Session, counts: readonly TrafficCount[]): Promise<void> => {
    if (counts.length === 0) return;
    await session.run(ADD, { counts: toRecords(counts) });
    const newest = Math.max(...counts.map(({ day }) => day));
    await session.run(REMOVE_BEFORE, { day: newest - TRAFFIC_DAYS + 1 });
  },
};
