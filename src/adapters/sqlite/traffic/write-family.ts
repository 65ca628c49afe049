import { TRAFFIC_DAYS } from '#partners/traffic/traffic-store.ts';
import type { TrafficCount } from '#partners/traffic/traffic-store.ts';
import type { Connection } from '../connection/connection.ts';
import type { WriteFamily } from '../writer/writer.ts';

type TrafficWrites = ReturnType<typeof createTrafficWrites>;

export const trafficWrites: WriteFamily<undefined, TrafficWrites> = {
  name: 'traffic',
  create: createTrafficWrites,
};

function createTrafficWrites({ handle }: Connection) {
  const add = handle.prepare<[TrafficCount]>(`
    INSERT INTO traffic (sender, kind, detail, day, count, lastAt)
    VALUES (@sender, @kind, @detail, @day, @count, @lastAt)
    ON CONFLICT (sender, kind, detail, day) DO UPDATE SET
      count = count + excluded.count, lastAt = max(lastAt, excluded.lastAt)`);
  const removeBefore = handle.prepare<[number]>('DELETE FROM traffic WHERE day < ?');
  return {
    add: (counts: readonly TrafficCount[]): void => {
      for (const count of counts) add.run(count);
      const newest = Math.max(...counts.map(({ day }) => day));
      if (counts.length > 0) removeBefore.run(newest - TRAFFIC_DAYS + 1);
    },
  };
}
