/**
 * The main job on real input: traffic and webhook payloads of the real API, through the real
 * Octokit and the whole composed service, to a client over HTTP.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { Webhooks } from '@octokit/webhooks';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createFakeClock } from '../../support/clock.ts';
import { compose, type Composed, TRACKER_TOKEN, WEBHOOK_SECRET } from '../support/world.ts';
import { eventually } from '../../support/eventually.ts';
import { openServer } from '../../support/http/local-server.ts';

const require = createRequire(import.meta.url);

const exchange = z.object({
  method: z.string(),
  path: z.string(),
  status: z.int(),
  response: z.unknown(),
  headers: z.record(z.string(), z.coerce.string()),
});

/** One call of the real API and its answer. */
type Exchange = z.infer<typeof exchange>;

/** Real traffic of the API as `@octokit/fixtures` keeps it, in the order of the recording. */
function recorded(scenario: string): Exchange[] {
  const file = `@octokit/fixtures/scenarios/api.github.com/${scenario}/normalized-fixture.json`;
  return z.array(exchange).parse(require(file));
}

const examples = z.array(
  z.object({
    name: z.string(),
    examples: z.array(z.looseObject({ action: z.string().optional() })),
  }),
);

type Payload = z.infer<typeof examples>[number]['examples'][number];

/** Real webhook payloads of one event, as `@octokit/webhooks-examples` keeps them. */
function examplesOf(event: string): Payload[] {
  const all = examples.parse(require('@octokit/webhooks-examples'));
  return all.filter(({ name }) => name === event).flatMap(({ examples }) => examples);
}

type ReplayedCall = { method: string; target: string; headers: IncomingHttpHeaders };

type Replay = {
  url: string;
  calls: ReplayedCall[];
  /** Answers GETs of a path (without its query) with recorded status, headers and body. */
  play(
    path: string,
    ...answers: readonly Pick<Exchange, 'status' | 'headers' | 'response'>[]
  ): void;
};

/** Of one connection, or of a body that was encoded otherwise. */
const HOP_HEADERS = new Set([
  'connection',
  'content-length',
  'content-encoding',
  'transfer-encoding',
]);

/**
 * A server that says what the real one said. A path with several answers gives one after the other,
 * and the last one for ever.
 */
async function startReplay(): Promise<Replay> {
  const calls: ReplayedCall[] = [];
  const answers = new Map<string, Pick<Exchange, 'status' | 'headers' | 'response'>[]>();
  const url = await openServer((request, response) => {
    const { method = '', url: target = '', headers } = request;
    calls.push({ method, target, headers });
    const queue = answers.get(target.split('?', 1)[0] ?? '') ?? [];
    const answer = queue.length > 1 ? queue.shift() : queue[0];
    if (!answer) return void response.writeHead(501).end();
    const kept = Object.entries(answer.headers).filter(([name]) => !HOP_HEADERS.has(name));
    response.writeHead(answer.status, Object.fromEntries(kept));
    return void response.end(answer.response === '' ? '' : JSON.stringify(answer.response));
  });
  return {
    url,
    calls,
    play: (path, ...given) => void answers.set(path, [...given]),
  };
}

const OWNER = 'octokit-fixture-org';
/** Time of the recordings, as they say it. */
const recordedAt = Date.parse('2017-10-10T16:00:00Z');

type World = Composed & { replay: Replay };

async function composeFor(repository: string, leads: Record<string, unknown> = {}): Promise<World> {
  const replay = await startReplay();
  const composed = await compose({
    apiUrl: replay.url,
    repository,
    clock: createFakeClock(recordedAt),
    settings: { leads: { freshFor: '1h', ...leads } },
  });
  return { ...composed, replay };
}

function first<T>(values: readonly T[]): T {
  const [value] = values;
  if (value === undefined) throw new Error('the recording is empty');
  return value;
}

describe('recorded lists', () => {
  const PATH = `/repos/${OWNER}/paginate-issues/issues`;
  const pages = recorded('paginate-issues');
  const labels = recorded('add-labels-to-issue')[1]?.response;

  /** The tracker's rows as recorded, with the recorded labels of another issue put on them. */
  const labelled = (rows: unknown): unknown =>
    (rows as object[]).map((row) => ({ ...row, labels }));

  test('a list of one page becomes leads with every field, and serves the details too', async () => {
    const { replay, get } = await composeFor(`${OWNER}/paginate-issues`, {
      approvedLabel: 'foo',
      priorityLabelPrefix: 'BA',
    });
    const last = first(pages.slice(-1));
    replay.play(PATH, { ...last, response: labelled(last.response) });
    const lead = {
      id: '1',
      title: 'Test issue 1',
      state: 'open',
      priority: 'r',
      labels: ['Foo', 'bAr', 'baZ'],
      createdAt: '2017-10-10T16:00:00Z',
      updatedAt: '2017-10-10T16:00:00Z',
      contact: {},
      connect: {},
    };
    const list = await get('/api/v1/leads');
    expect(await list.json()).toEqual({ items: [lead], pagination: { hasMore: false } });
    const detail = await get('/api/v1/leads/1');
    expect(await detail.json()).toEqual(lead);
    expect(detail.headers.get('cache-status')).toContain('hit');
    const [call] = replay.calls;
    expect(call).toMatchObject({
      method: 'GET',
      headers: { authorization: `token ${TRACKER_TOKEN}` },
    });
    expect(new URL(call?.target ?? '', replay.url).searchParams.has('page')).toBe(false);
    expect(replay.calls).toHaveLength(1);
  });

  test('all pages are walked, by the cursors that the tracker sends today', async () => {
    const { replay, get } = await composeFor(`${OWNER}/paginate-issues`, { approvedLabel: 'foo' });
    const answers = pages.map(({ headers, response, status }) => ({
      status,
      response: labelled(response),
      headers: {
        ...headers,
        link: (headers['link'] ?? '').replaceAll(/([?&])page=(\d+)/g, '$1after=c$2&page=$2'),
      },
    }));
    replay.play(PATH, ...answers);
    const ids: string[] = [];
    for (let target: string | undefined = '/api/v1/leads?limit=5'; target;) {
      const answer = await get(target);
      const { items, pagination } = (await answer.json()) as {
        items: { id: string }[];
        pagination: { hasMore: boolean; nextCursor?: string };
      };
      ids.push(...items.map(({ id }) => id));
      if (pagination.hasMore) expect(items).toHaveLength(5);
      target = /<https?:\/\/[^/]+([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
      expect(target !== undefined).toBe(pagination.hasMore);
    }
    expect(ids).toEqual(['13', '12', '11', '10', '9', '8', '7', '6', '5', '4', '3', '2', '1']);
    expect(replay.calls).toHaveLength(pages.length);
  });

  test('a list that goes on in a form of former days is refused rather than cut short', async () => {
    const { replay, get } = await composeFor(`${OWNER}/paginate-issues`);
    replay.play(PATH, first(pages));
    const answer = await get('/api/v1/leads');
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: 'tracker-failed' });
  });

  test('a recorded refusal (422) is a 503 that tells nothing of it', async () => {
    const { replay, get } = await composeFor(`${OWNER}/paginate-issues`);
    replay.play(PATH, first(recorded('errors')));
    const answer = await get('/api/v1/leads');
    const text = await answer.text();
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(JSON.parse(text)).toMatchObject({ code: 'tracker-unavailable' });
    expect(text).not.toMatch(/Validation Failed|documentation|color/);
  });
});

describe('recorded issues', () => {
  const REPOSITORY = `${OWNER}/add-labels-to-issue`;
  const [created, labelling] = recorded('add-labels-to-issue');
  const issue = {
    status: 200,
    headers: created?.headers ?? {},
    response: { ...(created?.response as object), labels: labelling?.response },
  };

  test('one that was labelled is a lead; before that it is none', async () => {
    const { replay, get, clock } = await composeFor(REPOSITORY, {
      approvedLabel: 'FOO',
      freshFor: '15s',
    });
    const path = `/repos/${REPOSITORY}/issues/1`;
    replay.play(path, { ...issue, response: created?.response });
    expect((await get('/api/v1/leads/1')).status).toBe(404);
    replay.play(path, issue);
    await clock.advance(16_000);
    const answer = await get('/api/v1/leads/1');
    expect(await answer.json()).toMatchObject({
      id: '1',
      title: 'Issue without a label',
      labels: ['Foo', 'bAr', 'baZ'],
    });
  });
});

describe('a recorded renaming', () => {
  const REPOSITORY = `${OWNER}/rename-repository`;
  const exchanges = recorded('rename-repository');

  test.each([301, 307])('of the repository (%i) is followed by no read', async (status) => {
    const { replay, get } = await composeFor(REPOSITORY);
    const moved = first(exchanges.filter((answer) => answer.status === status));
    const target = first(exchanges.filter(({ path }) => path === '/repositories/1000'));
    replay.play('/repositories/1000', target);
    for (const path of ['', '/issues', '/issues/1'])
      replay.play(`/repos/${REPOSITORY}${path}`, {
        ...moved,
        headers: { ...moved.headers, location: `${replay.url}/repositories/1000` },
      });
    const list = await get('/api/v1/leads');
    expect([list.status, list.headers.has('retry-after')]).toEqual([503, true]);
    expect(await list.json()).toMatchObject({ code: 'tracker-unavailable' });
    const detail = await get('/api/v1/leads/1');
    expect([detail.status, detail.headers.has('retry-after')]).toEqual([503, true]);
    expect(replay.calls.filter(({ target }) => target.startsWith('/repositories'))).toEqual([]);
  });

  test('of one issue’s address alone is a plain 404', async () => {
    const { replay, get } = await composeFor(REPOSITORY);
    const moved = first(exchanges.filter(({ status }) => status === 301));
    replay.play(`/repos/${REPOSITORY}/issues/1`, moved);
    replay.play(`/repos/${REPOSITORY}`, first(recorded('get-repository')));
    const answer = await get('/api/v1/leads/1');
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'lead-not-found' });
  });
});

describe('real webhook payloads', () => {
  const REPOSITORY = 'Codertocat/Hello-World';
  const webhooks = new Webhooks({ secret: WEBHOOK_SECRET });
  const EVENTS = ['issues', 'label', 'repository', 'ping'];
  const deliveries = EVENTS.flatMap((event) =>
    examplesOf(event).map((payload): Delivery => ({ event, payload })),
  );
  type Delivery = { event: string; payload: Payload };

  async function post({ url }: World, { event, payload }: Delivery): Promise<Response> {
    const body = JSON.stringify(payload);
    return fetch(`${url}/api/v1/webhooks/github`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': event,
        'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
        'x-hub-signature-256': await webhooks.sign(body),
      },
      body,
    });
  }

  /** Issue 1 as the payloads show it, behind the list and the single address. */
  async function composeHelloWorld(): Promise<World> {
    const world = await composeFor(REPOSITORY, { approvedLabel: 'bug' });
    const { issue } = first(examplesOf('issues').filter(({ action }) => action === 'edited'));
    const { headers } = first(recorded('paginate-issues').slice(-1));
    const answer = { status: 200, headers };
    world.replay.play(`/repos/${REPOSITORY}/issues`, { ...answer, response: [issue] });
    world.replay.play(`/repos/${REPOSITORY}/issues/1`, { ...answer, response: issue });
    return world;
  }

  const concernsLeads = ({ event, payload }: Delivery): boolean =>
    event !== 'ping' && isHelloWorld(payload['repository']) && !isPullRequest(payload['issue']);

  test('there are examples of each kind, of this repository and of others', () => {
    expect(deliveries.length).toBeGreaterThan(50);
    const ours = new Set(deliveries.filter(concernsLeads).map(({ event }) => event));
    expect([...ours]).toEqual(['issues', 'label', 'repository']);
    expect(deliveries.filter((delivery) => !concernsLeads(delivery)).length).toBeGreaterThan(5);
  });

  test('each is accepted; those of this repository’s issues are seen by the next read, others cost none', async () => {
    const world = await composeHelloWorld();
    const { replay, clock, get } = world;
    const listCalls = (): number => replay.calls.length;
    for (const delivery of deliveries) {
      // Long enough for an event to be forgotten that the recorded rows lag behind.
      await clock.advance(20_000);
      await get('/api/v1/leads');
      const before = listCalls();
      expect((await post(world, delivery)).status).toBe(202);
      await clock.advance(1500);
      if (concernsLeads(delivery))
        await eventually(async () => {
          expect((await get('/api/v1/leads')).status).toBe(200);
          expect(listCalls()).toBe(before + 1);
        });
      else {
        expect((await get('/api/v1/leads')).status).toBe(200);
        expect(listCalls()).toBe(before);
      }
    }
  });

  test('nothing of a payload is in the log, at any level', async () => {
    const world = await composeHelloWorld();
    for (const delivery of deliveries) await post(world, delivery);
    await world.get('/api/v1/leads');
    const log = world.logText();
    expect(log).toContain('/api/v1/webhooks/github');
    const texts = new Set(deliveries.flatMap(({ payload }) => textsIn(payload)));
    expect(texts.size).toBeGreaterThan(250);
    expect([...texts].filter((text) => log.includes(text))).toEqual([]);
    for (const secret of [WEBHOOK_SECRET, TRACKER_TOKEN, world.key])
      expect(log).not.toContain(secret);
  });
});

function isHelloWorld(repository: unknown): boolean {
  return (repository as { full_name?: string } | undefined)?.full_name === 'Codertocat/Hello-World';
}

function isPullRequest(issue: unknown): boolean {
  return typeof issue === 'object' && issue !== null && 'pull_request' in issue;
}

/** Every text of a payload that is long enough to be recognised. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length >= 8 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((part) => textsIn(part));
}
