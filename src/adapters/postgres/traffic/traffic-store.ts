import { TRAFFIC_DAYS } from '#partners/traffic/traffic-store.ts';
import type { TrafficCount, TrafficStore } from '#partners/traffic/traffic-store.ts';
import type { Database } from '../connection/database.ts';

/** In the order of the key, so that two instances never wait for each other. */
const ADD = `
  INSERT INTO traffic (sender, kind, detail, day, count, last_at)
  SELECT * FROM unnest(@senders::text[], @kinds::text[], @details::text[], @days::bigint[],
    @counts::bigint[], @lastAts::bigint[])
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (sender, kind, detail, day) DO UPDATE SET
    count = traffic.count + excluded.count,
    last_at = greatest(traffic.last_at, excluded.last_at)`;

const REMOVE_BEFORE = 'DELETE FROM traffic WHERE day < @day';

const SINCE = 'SELECT sender, kind, detail, day, count, last_at FROM traffic WHERE day >= @day';

/** The record of traffic in PostgreSQL. */
export function createTrafficStore(database: Database): TrafficStore {
  return {
    add: (counts) =>
      counts.length === 0
        ? Promise.resolve()
        : database.transaction(async (session) => {
            await session.run(ADD, toColumns(counts));
            const newest = Math.max(...counts.map(({ day }) => day));
            await session.run(REMOVE_BEFORE, { day: newest - TRAFFIC_DAYS + 1 });
          }),
    readSince: (day) => database.all<TrafficCount>(SINCE, { day }),
  };
}

function toColumns(counts: readonly TrafficCount[]) {
  return {
    senders: counts.map(({ sender }) => sender),
    kinds: counts.map(({ kind }) => kind),
    details: counts.map(({ detail }) => detail),
    days: counts.map(({ day }) => day),
    counts: counts.map(({ count }) => count),
    lastAts: counts.map(({ lastAt }) => lastAt),
  };
}
