import { z } from 'zod';

import { isTrackerFailure } from './transport/failure.ts';
import type { TrackerClient } from './transport/client.ts';
import type { RepositoryName } from './repository.ts';

/** A webhook as the tracker shows it to those who may see it. */
export type Webhook = {
  owner: 'repository' | 'app';
  url: string;
  isActive: boolean;
  events: readonly string[];
  /** `json` or `form`. */
  contentType: string;
  hasSecret: boolean;
  /** The latest; absent: none, or the credential may not see it. */
  lastDelivery?: HookDelivery;
};

type HookDelivery = {
  /** RFC 3339. */
  at: string;
  /** Of the receiver's response, or the tracker's stand-in for none. */
  status: number;
};

/** GitHub takes 20 webhooks for an event. */
const HOOKS_MAX = 100;
/** The tracker's responses to those who may not see webhooks: some are told that there are none at all. */
const REFUSALS = [401, 403, 404];

const configSchema = z.object({
  url: z.string().default(''),
  content_type: z.string().default('form'),
  secret: z.string().optional(),
});

const hooksSchema = z.array(
  z.object({
    id: z.number(),
    active: z.boolean(),
    events: z.array(z.string()),
    config: configSchema,
  }),
);

const deliveriesSchema = z.array(z.object({ delivered_at: z.string(), status_code: z.number() }));

/**
 * The webhooks of a repository; of those whose address is wanted with the last delivery. Undefined:
 * the credential may not see them.
 * @throws {TrackerFailure} for every other failure of the tracker
 */
export async function inspectRepositoryHooks(
  client: TrackerClient,
  repository: RepositoryName,
  isWanted: (url: string) => boolean,
): Promise<Webhook[] | undefined> {
  const path = 'GET /repos/{owner}/{repo}/hooks';
  const hooks = await readIfAllowed(client, path, hooksSchema, {
    ...repository,
    per_page: HOOKS_MAX,
  });
  if (!hooks) return undefined;
  const found: Webhook[] = [];
  for (const { id, active, events, config } of hooks) {
    const delivery = isWanted(config.url)
      ? await readLastDelivery(client, `${path}/{hook}/deliveries`, { ...repository, hook: id })
      : {};
    found.push({ owner: 'repository', isActive: active, events, ...toHook(config), ...delivery });
  }
  return found;
}

/**
 * The webhook of the App that the client speaks for, by its own JWT; undefined when it has none.
 * @throws {TrackerFailure}
 */
export async function inspectAppHook(client: TrackerClient): Promise<Webhook | undefined> {
  const config = await readIfAllowed(client, 'GET /app/hook/config', configSchema);
  if (!config || config.url === '') return undefined;
  const app = await readIfAllowed(
    client,
    'GET /app',
    z.object({ events: z.array(z.string()).default([]) }),
  );
  return {
    owner: 'app',
    isActive: true,
    events: app?.events ?? [],
    ...toHook(config),
    ...(await readLastDelivery(client, 'GET /app/hook/deliveries')),
  };
}

function toHook(config: z.infer<typeof configSchema>) {
  const { url, content_type: contentType, secret = '' } = config;
  return { url, contentType, hasSecret: secret !== '' };
}

async function readLastDelivery(
  client: TrackerClient,
  route: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<{ lastDelivery?: HookDelivery }> {
  const query = { ...parameters, per_page: 1 };
  const [last] = (await readIfAllowed(client, route, deliveriesSchema, query)) ?? [];
  return last ? { lastDelivery: { at: last.delivered_at, status: last.status_code } } : {};
}

async function readIfAllowed<T>(
  client: TrackerClient,
  route: string,
  schema: z.ZodType<T>,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<T | undefined> {
  try {
    const response = await client.request(route, parameters, { schema, accept: REFUSALS });
    return response.kind === 'success' ? response.data : undefined;
  } catch (error) {
    if (isTrackerFailure(error, 'unauthorized') || isTrackerFailure(error, 'forbidden'))
      return undefined;
    throw error;
  }
}
