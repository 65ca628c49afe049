import type { TrafficCount, TrafficStore } from '#partners/traffic/traffic-store.ts';
import type { Database } from '../connection/database.ts';
import { guard } from '../connection/errors.ts';
import { trafficWrites } from './write-family.ts';

/** The record of traffic in SQLite. */
export function createTrafficStore(database: Database): TrafficStore {
  const since = guard(() =>
    database.handle.prepare<[number], TrafficCount>(
      'SELECT sender, kind, detail, day, count, lastAt FROM traffic WHERE day >= ?',
    ),
  );
  const write = database.writer.open(trafficWrites, undefined);
  return {
    add: (counts) => write('add', counts),
    readSince: async (day) => guard(() => since.all(day)),
  };
}
