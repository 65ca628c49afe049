/** The repository, its labels and its webhooks, as `doctor` asks for them. */
import { z } from 'zod';
import type { Clock } from '#shared/clock.ts';
import type { TrackerClient } from './transport/client.ts';
import {
  continuationOf,
  type Headers,
  isTrackerFailure,
  TrackerFailure,
} from './transport/response.ts';
import {
  type Repository,
  type RepositoryInfo,
  type RepositoryName,
  scopesOf,
} from './repository.ts';

/** State of the repository, for `doctor`. */
export type RepositoryInspection = {
  facts: RepositoryInfo;
  /** The labels asked for, in their order. */
  labels: readonly { name: string; exists: boolean }[];
  /** Of a classic token; other credentials have none. */
  scopes?: readonly string[];
  /** End of the token, as the tracker writes it; absent for tokens without an end. */
  tokenExpires?: string;
  /** Milliseconds by which the tracker's clock is ahead of ours; precise to a second. */
  clockAheadMs?: number;
};

/**
 * Asks the tracker about the repository and the labels named.
 * @throws {TrackerFailure} its `kind` says what is wrong: `unauthorized`, `repository-missing`, …
 */
export async function inspectRepository(
  { client, repository, clock }: { client: TrackerClient; repository: Repository; clock: Clock },
  labelNames: readonly string[],
): Promise<RepositoryInspection> {
  const { facts, headers } = await repository.read();
  const clockAheadMs = clockAheadOf(headers, clock.now());
  const labels: { name: string; exists: boolean }[] = [];
  for (const name of labelNames)
    labels.push({ name, exists: await labelExists(client, repository, name) });
  return {
    facts,
    labels,
    scopes: scopesOf(headers),
    tokenExpires: headers['github-authentication-token-expiration']?.toString(),
    ...clockAheadMs,
  };
}

async function labelExists(
  client: TrackerClient,
  { name: repository }: Repository,
  name: string,
): Promise<boolean> {
  const response = await client.request(
    'GET /repos/{owner}/{repo}/labels/{name}',
    { ...repository, name },
    { schema: z.object({ name: z.string() }), accept: [404] },
  );
  return response.kind === 'success';
}

/**
 * True when issues can be assigned to whoever has this login.
 * @see https://docs.github.com/en/rest/issues/assignees#check-if-a-user-can-be-assigned
 * @throws {TrackerFailure}
 */
export async function isAssignable(
  { client, repository }: { client: TrackerClient; repository: Repository },
  login: string,
): Promise<boolean> {
  const response = await client.request(
    'GET /repos/{owner}/{repo}/assignees/{assignee}',
    { ...repository.name, assignee: login },
    { schema: z.undefined(), accept: [404] },
  );
  return response.kind === 'success';
}

/**
 * Looks at how a list goes on; two issues are enough to tell.
 * @throws {TrackerFailure} `numbered-pages` without cursors, and why issues cannot be read
 */
export async function assertCursors({
  client,
  repository,
}: {
  client: TrackerClient;
  repository: Repository;
}): Promise<void> {
  const { headers, status } = await client.request(
    'GET /repos/{owner}/{repo}/issues',
    { ...repository.name, state: 'all', per_page: 1 },
    { schema: z.array(z.unknown()) },
  );
  if (continuationOf(headers['link']).kind === 'unusable')
    throw new TrackerFailure('numbered-pages', { status });
}

/**
 * Creates a label. `exists` when there was one of that name in any case; `refused` when the tracker
 * does not take the name, colour or description.
 * @throws {TrackerFailure} `forbidden` or `missing` without write access
 */
export async function createLabel(
  { client, repository }: { client: TrackerClient; repository: Repository },
  label: { name: string; color?: string; description?: string },
): Promise<'created' | 'exists' | 'refused'> {
  const response = await client.request(
    'POST /repos/{owner}/{repo}/labels',
    { ...repository.name, ...label },
    { schema: z.object({ name: z.string() }), accept: [422] },
  );
  if (response.kind === 'success') return 'created';
  return (await labelExists(client, repository, label.name)) ? 'exists' : 'refused';
}

function clockAheadOf(headers: Headers, now: number): { clockAheadMs?: number } {
  const date = Date.parse(headers['date']?.toString() ?? '');
  return Number.isNaN(date) ? {} : { clockAheadMs: date - now };
}

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
