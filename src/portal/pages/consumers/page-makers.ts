import { z } from 'zod';
import type { Access } from '#access/index.ts';
import { consumerNotFound, keyStateAt } from '#access/consumers/consumer.ts';
import { refuseRevoked } from '#access/consumers/consumer-change.ts';
import type { Consumer, Key } from '#access/consumers/consumer.ts';
import type { Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import type { PortalPage } from '../../page.ts';
import type { PortalPerson } from '../../person.ts';
import type { Reader } from '../../shell/times.ts';
import { newKeyView, revokeConsumerView, revokeKeyView, rotateKeyView } from './confirm-views.ts';
import type { ConfirmFacts } from './confirm-views.ts';
import { consumerView } from './consumer/consumer-view.ts';
import type { ConsumerFacts } from './consumer/consumer-view.ts';
import { newConsumerView } from './new-view.ts';
import type { NewConsumerFacts } from './new-view.ts';
import { consumerPath, CONSUMERS_PATH } from './query.ts';
import type { KnownLabels } from './visibility.ts';
import { standingBadge } from './words.ts';

export type ConsumerPagesDeps = {
  access: Pick<Access, 'consumers' | 'keys' | 'listAudit'>;
  /** The tracker's labels; any failure means that nobody can know them now. */
  readLabels: () => Promise<readonly string[]>;
  /** Calls per minute of a consumer without a limit of its own. */
  defaultLimit: () => number;
  publicUrl: () => string;
  clock: Pick<Clock, 'now'>;
};

const LAST_CHANGES = 5;

export const scope = 'trackport:admin';
export const ofConsumer = { scope, params: z.object({ id: z.string() }) } as const;
export const ofKey = { scope, params: z.object({ id: z.string(), keyId: z.string() }) } as const;

export type ConsumerPageMakers = ReturnType<typeof createPages>;

type Asking = Omit<ConfirmFacts, 'consumer'>;
type KeyName = { id: string; keyId: string };

/** Pages as a reader and a form that came back show them alike. */
export function createPages(deps: ConsumerPagesDeps) {
  const { access, clock } = deps;
  const reader = ({ timeZone }: PortalPerson): Reader => ({ timeZone, nowMs: clock.now() });
  const read = (id: string): Promise<Consumer> => access.consumers.read(id);
  const labels = async (): Promise<KnownLabels> => {
    const names = await deps.readLabels().catch(() => undefined);
    return names === undefined ? { unknown: true } : { names };
  };
  const confirm =
    (title: string, view: (given: ConfirmFacts, at: Reader) => ConsumerPage['body']) =>
    async (id: string, given: Asking): Promise<PortalPage> => {
      const consumer = await read(id);
      refuseRevoked(consumer);
      return below(consumer, title, view({ ...given, consumer }, reader(given.person)));
    };
  const confirmKey =
    (
      title: string,
      view: (given: ConfirmFacts & { key: Key }, at: Reader) => ConsumerPage['body'],
    ) =>
    async ({ id, keyId }: KeyName, given: Asking): Promise<PortalPage> => {
      const consumer = await read(id);
      const key = consumer.keys.find((one) => one.keyId === keyId) ?? consumerNotFound();
      refuseEnded(key, clock.now());
      return below(consumer, title, view({ ...given, consumer, key }, reader(given.person)));
    };
  return {
    reader,
    labels,
    create: async (given: Omit<NewConsumerFacts, 'labels' | 'defaultLimit'>) =>
      createPage({ ...given, labels: await labels(), defaultLimit: deps.defaultLimit() }),
    show: async (id: string, given: Pick<ConsumerFacts, 'person' | 'returned'>) => {
      const consumer = await read(id);
      const filter = { subject: `consumer/${id}` };
      const { items: entries } = await access.listAudit({ filter, limit: LAST_CHANGES });
      const known = { labels: await labels(), defaultLimit: deps.defaultLimit() };
      return showPage({ ...given, ...known, consumer, entries }, reader(given.person));
    },
    confirmRevoke: confirm('Revoke consumer', revokeConsumerView),
    newKey: confirm('Add a key', newKeyView),
    confirmRotateKey: confirmKey('Rotate key', rotateKeyView),
    confirmRevokeKey: confirmKey('Revoke key', revokeKeyView),
  };
}

/** Its page offers nothing about such a key; an old tab may. @throws {invalid-lifecycle-transition} */
function refuseEnded(key: Key, now: number): void {
  const current = keyStateAt(key, now);
  if (current === 'active') return;
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: `This key is ${current} already: nothing is left to do about it.`,
    extensions: { current, allowed: [] },
  });
}

type ConsumerPage = PortalPage & { section: 'consumers' };

function createPage(given: NewConsumerFacts): ConsumerPage {
  return {
    title: 'Create consumer',
    section: 'consumers',
    crumbs: [{ href: CONSUMERS_PATH, text: 'Consumers' }],
    body: newConsumerView(given),
  };
}

function showPage(given: ConsumerFacts, reader: Reader): ConsumerPage {
  const { consumer } = given;
  return {
    title: consumer.name,
    section: 'consumers',
    crumbs: [{ href: CONSUMERS_PATH, text: 'Consumers' }],
    badge: standingBadge(consumer, reader, { fill: true }),
    meta: [consumer.id],
    body: consumerView(given, reader),
  };
}

function below({ id, name }: Consumer, title: string, body: PortalPage['body']): ConsumerPage {
  return {
    title,
    section: 'consumers',
    crumbs: [
      { href: CONSUMERS_PATH, text: 'Consumers' },
      { href: consumerPath(id), text: name },
    ],
    body,
  };
}
