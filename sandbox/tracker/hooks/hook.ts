import { SECOND, toRfc3339 } from '#shared/clock.ts';
import type { Repository, World } from '../world/model.ts';
import { nowInSeconds } from '../world/world.ts';

/** Receiver of webhooks. */
export type HookTarget = {
  url: string;
  /** Empty: deliveries are not signed. */
  secret: string;
  /** Default: issues, label, repository. */
  events?: readonly string[];
  /** Default `json`. */
  contentType?: 'json' | 'form';
  /** False: nothing is delivered but the ping. Default true. */
  isActive?: boolean;
  /** The one webhook of the tracker's App instead of one of the repository. */
  isOfApp?: boolean;
};

export type Hook = HookTarget & { id: number };

export type Delivery = {
  guid: string;
  event: string;
  action?: string;
  hookId: number;
  /** The JSON text. */
  body: string;
  /** Status of each try; 0 for a connection that failed. More than one only after `redeliver`. */
  statuses: number[];
  /** The tries themselves; `at` in milliseconds since the Unix epoch. */
  tries: { id: number; at: number; seconds: number }[];
};

type Document = Record<string, unknown>;

const DEFAULT_EVENTS = ['issues', 'label', 'repository'];

export function eventsOf({ events = DEFAULT_EVENTS }: HookTarget): readonly string[] {
  return events;
}

/** A hook of the repository, as its list and its ping show it. */
export function hookDocument(world: World, repository: Repository, hook: Hook): Document {
  const url = `${world.origin}/repositories/${repository.id}/hooks/${hook.id}`;
  const now = toRfc3339(nowInSeconds(world));
  return {
    type: 'Repository',
    id: hook.id,
    name: 'web',
    active: hook.isActive !== false,
    events: eventsOf(hook),
    config: configDocument(hook),
    updated_at: now,
    created_at: now,
    url,
    test_url: `${url}/test`,
    ping_url: `${url}/pings`,
    deliveries_url: `${url}/deliveries`,
    last_response: { code: null, status: 'unused', message: null },
  };
}

/** A secret is masked, and left out when there is none. */
export function configDocument({ url, secret, contentType = 'json' }: HookTarget): Document {
  const masked = secret === '' ? {} : { secret: '********' };
  return { content_type: contentType, insecure_ssl: '0', ...masked, url };
}

/** Every try of a hook's deliveries, latest first. */
export function deliveryDocuments(
  hook: Hook,
  deliveries: readonly Delivery[],
  repository: Repository,
): Document[] {
  const documents = deliveries
    .filter(({ hookId }) => hookId === hook.id)
    .flatMap((delivery) =>
      delivery.tries.map(({ id, at, seconds }, index) => ({
        id,
        guid: delivery.guid,
        delivered_at: toRfc3339(Math.floor(at / SECOND) * SECOND),
        redelivery: index > 0,
        duration: Math.round(seconds * 100) / 100,
        ...outcomeOf(delivery.statuses[index] ?? 0),
        event: delivery.event,
        action: delivery.action ?? null,
        installation_id: null,
        repository_id: repository.id,
        throttled_at: null,
      })),
    );
  return documents.sort((left, right) => right.id - left.id);
}

function outcomeOf(status: number): { status: string; status_code: number } {
  if (status === 0) return { status: 'failed to connect to host', status_code: 502 };
  const isDelivered = status >= 200 && status < 300;
  return {
    status: isDelivered ? 'OK' : `Invalid HTTP Response: ${status}`,
    status_code: status,
  };
}
