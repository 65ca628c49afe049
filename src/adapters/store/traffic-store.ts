import { TRAFFIC_DAYS, type TrafficCount, type TrafficStore } from '#partners/traffic.ts';
import type { Tx, Database } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import { bindWrites } from './bind-writes.ts';

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
export function createTrafficStore(database: Database): TrafficStore {
  return {
    ...bindWrites(database.transaction, trafficWrites),
    readSince: (day) => database.all<TrafficCount>(SINCE, { day }),
  };
}

const trafficWrites = {
  add: async (session: Tx, counts: readonly TrafficCount[]): Promise<void> => {
    if (counts.length === 0) return;
    await session.run(ADD, { counts: toRecords(counts) });
    const newest = Math.max(...counts.map(({ day }) => day));
    await session.run(REMOVE_BEFORE, { day: newest - TRAFFIC_DAYS + 1 });
  },
};
