export type EventRow = {
  id: number;
  receiptId: string;
  partner: string;
  path: 'events' | 'deletions';
  outcome: string;
  erasure: string | null;
  eventId: string | null;
  leadIds: string | null;
  leaseToken: string | null;
  leaseUntil: number | null;
  dueAt: number | null;
  attempts: number;
  progress: string | null;
  lastError: string | null;
};

const EVENTS = `
  SELECT event.id, receipt.id AS "receiptId", receipt.partner_id AS partner, path, outcome, erasure,
    event_id AS "eventId", lead_ids AS "leadIds", lease_token AS "leaseToken", lease_until AS "leaseUntil",
    due_at AS "dueAt", attempts, progress, last_error AS "lastError"
  FROM event JOIN receipt ON receipt.number = event.receipt`;

/** Looks into the store from outside, between two steps. */
export type Inspector = ReturnType<typeof createInspector>;

/** The rows that the store has now, by a connection of its own. `?` stands for a value. */
export type Look = <Row>(sql: string, ...values: unknown[]) => Row[];

export function createInspector(all: Look) {
  return {
    all,
    events: () => all<EventRow>(EVENTS),
    /** Numbers that are claimed now. */
    claimed: () =>
      new Set(
        all<{ number: number }>('SELECT number FROM claim WHERE released_at IS NULL').map(
          ({ number }) => number,
        ),
      ),
  };
}
