import type { ServerFacts } from '#adapters/postgres/connection/server-facts.ts';
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { failed, type Finding, ok, warning } from '#shared/report.ts';

import type { OpenStore } from '../stores/stores.ts';

/** What an instance takes: its pool, and the connection that listens. */
const CONNECTIONS_OF_INSTANCE = 11;
const SUBJECT = 'store server';
const CLOCK_DIFFERENCE_MAX_MS = 5 * SECOND;

/** Whether the server of a store suits it; nothing for a store without one. @throws {store-unavailable} */
export async function checkServer(
  { readServer }: Pick<OpenStore, 'readServer'>,
  clock: Pick<Clock, 'now'>,
): Promise<Finding[]> {
  if (!readServer) return [];
  const server = await readServer();
  const problems = problemsOf(server, Math.abs(server.now - clock.now()));
  if (problems.length > 0) return problems;
  const { version, connectionsMax } = server;
  const instances = Math.floor(connectionsMax / CONNECTIONS_OF_INSTANCE);
  return [
    ok(
      SUBJECT,
      `PostgreSQL ${version}. ${connectionsMax} connections: enough for ${instances} instance${instances === 1 ? '' : 's'}.`,
    ),
  ];
}

function problemsOf(
  { mayCreate, connectionsMax, isDurable }: ServerFacts,
  differenceMs: number,
): Finding[] {
  return [
    !isDurable &&
      failed(
        SUBJECT,
        'It does not wait for its disk (fsync is off): acknowledged deletions are lost when the machine fails.',
        'Set fsync = on.',
      ),
    !mayCreate &&
      warning(
        SUBJECT,
        'Its user may not create tables: the migrations of a later version fail.',
        'GRANT CREATE ON SCHEMA public TO the user of store.url.',
      ),
    connectionsMax < CONNECTIONS_OF_INSTANCE &&
      warning(
        SUBJECT,
        `It gives ${connectionsMax} connections, and an instance takes up to ${CONNECTIONS_OF_INSTANCE}: calls wait for one, and then get 503.`,
        'Raise max_connections, or the limit of the role or the database.',
      ),
    differenceMs > CLOCK_DIFFERENCE_MAX_MS &&
      warning(
        SUBJECT,
        `Its clock is ${textOf(differenceMs)} away from that of this machine.`,
        'Set both by NTP.',
      ),
  ].filter((finding) => finding !== false);
}

function textOf(ms: number): string {
  return ms < MINUTE ? `${Math.round(ms / SECOND)} s` : `${Math.round(ms / MINUTE)} min`;
}
