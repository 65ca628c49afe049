import { createHmac } from 'node:crypto';
import { isTrackportError } from '#shared/errors.ts';
import { SECOND } from '#shared/clock.ts';
import { signedBy } from '../../support/signed-by.ts';
import { type Name, namesOf, type Sent } from '../model.ts';
import { POISONED } from '../world/engine.ts';
import { CutOff, type Served } from '../world/instance.ts';
import { type PartnerId, PUBLIC_URL, SECRETS } from '../world/settings.ts';
import type { World } from '../world/world.ts';

const PARTNERS = Object.keys(SECRETS) as PartnerId[];
type Path = Sent['path'];
type Delivery = {
  partner: PartnerId;
  path: Path;
  body: string;
  messageId: string;
  isPoisoned?: boolean;
};

/** A CRM that sends what becomes of its contacts, until it is taken. */
export async function bePartner(world: World, acts: number, pauseMs: number): Promise<void> {
  for (let act = 0; act < acts && !world.isOver; act += 1) {
    await world.pause(world.random() * pauseMs);
    const draw = world.random();
    if (draw < 0.1) await merge(world, act);
    else await sendSome(world, act, draw < 0.65 ? 'deletions' : 'events');
  }
}

async function sendSome(world: World, act: number, path: Path): Promise<void> {
  const partner = world.pick(PARTNERS) ?? 'crm-hmac';
  const count = world.random() < 0.3 ? 3 : 1;
  const bodies: object[] = [];
  const sent: Sent[] = [];
  const messageId = `m-${act}-${world.scheduler.steps()}`;
  for (let at = 0; at < count; at += 1) {
    const event = makeEvent(world, { partner, path, messageId, id: `${messageId}-${at}` });
    if (!event) continue;
    bodies.push(event.body);
    sent.push(event.sent);
  }
  const [first] = bodies;
  if (!first) return;
  world.model.sent.push(...sent);
  const body = JSON.stringify(bodies.length === 1 ? first : bodies);
  const delivery = { partner, path, body, messageId };
  const receiptId = await sendUntilTaken(world, delivery);
  if (receiptId === undefined) return;
  for (const one of sent) Object.assign(one, { receiptId, acknowledgedAt: world.scheduler.now() });
  world.tell(`${partner} has its receipt for ${describe(sent)}`);
  expectReceipt(world, receiptId);
  if (world.random() > 0.25) return;
  await world.pause(world.random() * 5 * SECOND);
  for (const one of sent) if (one.eventId === undefined) one.askedUntil = Infinity;
  const again = await sendUntilTaken(world, delivery);
  if (again !== undefined && again !== receiptId)
    world.violate(`a repeat of ${partner} got another receipt`);
}

function describe(sent: readonly Sent[]): string {
  return sent
    .map(
      ({ type, names }) =>
        `${type} of ${names.map((name) => ('number' in name ? `#${name.number}` : name.value)).join(', ')}`,
    )
    .join('; ');
}

function expectReceipt({ inspector, violate }: World, id: string): void {
  if (inspector.all('SELECT 1 FROM receipt WHERE id = ?', id).length === 0)
    violate(`receipt ${id} was acknowledged, and is not in the store`);
}

/** Deletes whom the directory does not know yet. @throws {CutOff} when nobody serves */
export async function deleteNewcomer(world: World, email: string): Promise<void> {
  const id = `newcomer-${world.scheduler.steps()}`;
  const body = JSON.stringify({ eventType: 'lead.deletion', email, eventId: id });
  const at = world.scheduler.now();
  world.model.sent.push({
    partner: 'crm-hmac',
    path: 'deletions',
    type: 'lead.deletion',
    names: [{ kind: 'email', value: email }],
    sentAt: at,
    askedUntil: at,
    eventId: id,
  });
  await sendUntilTaken(world, { partner: 'crm-hmac', path: 'deletions', body, messageId: id });
}

type Wanted = { partner: PartnerId; path: Path; messageId: string; id: string };

/** About a lead that there is, or was, or that somebody has only heard of. */
function makeEvent(
  world: World,
  { partner, path, messageId, id }: Wanted,
): { body: object; sent: Sent } | undefined {
  const lead = world.pick([...world.model.leads.values()]);
  if (!lead) return undefined;
  const isV3 = partner === 'crm-v3';
  const own = namesOf(lead).filter((name) =>
    name.kind === 'external-id' ? name.partner === partner : !isV3,
  );
  const name = world.pick(own);
  if (!name) return undefined;
  const names = [name];
  const type =
    path === 'events' ? (world.random() < 0.7 ? 'qualified' : 'won') : typeOf(world, partner);
  const hasId = world.random() < 0.8;
  const eventId = hasId ? id : partner === 'crm-standard' ? messageId : undefined;
  const body = {
    ...fieldsOf(names, isV3),
    ...(isV3 ? { subscriptionType: type, portalId: 1, occurredAt: 1 } : { eventType: type }),
    ...(hasId ? { eventId: id } : { told: id }),
  };
  const sentAt = world.scheduler.now();
  return { body, sent: { partner, path, type, names, sentAt, askedUntil: sentAt, eventId } };
}

function typeOf(world: World, partner: PartnerId): string {
  if (partner !== 'crm-v3') return 'lead.deletion';
  return world.random() < 0.5 ? 'contact.deletion' : 'contact.privacyDeletion';
}

function fieldsOf(names: readonly Name[], isV3: boolean): object {
  return Object.fromEntries(
    names.map((name) => {
      switch (name.kind) {
        case 'lead-id':
          return ['leadId', String(name.number)];
        case 'email':
          return ['email', name.value];
        case 'correlation-id':
          return ['correlationId', name.value];
        case 'external-id':
          return isV3 ? ['objectId', Number(name.value)] : ['externalId', name.value];
      }
    }),
  );
}

/** One contact is made of two. */
async function merge(world: World, act: number): Promise<void> {
  const { model } = world;
  const known = [...model.leads.values()].flatMap(({ person: { crm } }) =>
    crm?.partner === 'crm-v3' ? [crm.id] : [],
  );
  const from = world.pick(known);
  if (from === undefined) return;
  const to = world.random() < 0.5 ? String(90_000 + act) : (world.pick(known) ?? from);
  if (from === to) return;
  const one = { partner: 'crm-v3' as const, from, to, acknowledgedAt: Infinity };
  model.merges.push(one);
  const event = {
    subscriptionType: 'contact.merge',
    eventId: `merge-${act}-${world.scheduler.steps()}`,
    portalId: 1,
    occurredAt: 1,
    mergedObjectIds: [Number(from)],
    primaryObjectId: Number(to),
    newObjectId: Number(to),
  };
  const body = JSON.stringify([event]);
  const sentTo = { partner: one.partner, path: 'deletions' as const, body, messageId: '' };
  if ((await sendUntilTaken(world, sentTo)) !== undefined)
    one.acknowledgedAt = world.scheduler.now();
}

/** A delivery that no transaction can take with it: its neighbours must not suffer. */
const poison: Delivery = {
  partner: 'crm-hmac',
  path: 'events',
  body: JSON.stringify({ eventType: 'unheard of' }),
  messageId: '',
  isPoisoned: true,
};

/** Undefined: people went home before it was taken. */
async function sendUntilTaken(world: World, delivery: Delivery): Promise<string | undefined> {
  const isAttacked = world.random() < 0.1;
  for (;;) {
    try {
      return await world.call((served) => {
        const taken = deliver(world, served, delivery);
        if (isAttacked) void deliver(world, served, poison).catch(() => undefined);
        return taken;
      });
    } catch (error) {
      const isExcused =
        error instanceof CutOff ||
        isTrackportError(error, 'store-unavailable') ||
        isTrackportError(error, 'overloaded');
      if (!isExcused)
        world.violate(`what ${delivery.partner} had signed was refused: ${String(error)}`);
    }
    if (world.isOver) return undefined;
    await world.pause(200 + world.random() * 2000);
  }
}

/** As the route does. */
async function deliver(
  world: World,
  { parts: { partners } }: Served,
  delivery: Delivery,
): Promise<string> {
  const { partner: partnerId, path, messageId } = delivery;
  const body = Buffer.from(delivery.body);
  const uri = `${PUBLIC_URL}/api/v1/webhooks/partners/${partnerId}/${path}`;
  const headers = signed(delivery, uri, world.scheduler.now());
  const headerValues = (name: string): string[] => {
    const value = headers[name.toLowerCase()];
    return value === undefined ? [] : [value];
  };
  const verdict = partners.verify({ partnerId, method: 'POST', uri, body, headerValues });
  if (verdict.kind !== 'verified') throw new Error(verdict.reason);
  const accepted = await partners.accept({
    partner: verdict.partner,
    path,
    body,
    ...(partnerId === 'crm-standard' && { messageId }),
    ...(delivery.isPoisoned && { correlationId: POISONED }),
  });
  return accepted.receipt.id;
}

/** By each partner's own scheme, written down once more. */
function signed(
  { partner, body, messageId }: Delivery,
  uri: string,
  now: number,
): Record<string, string> {
  const secret = SECRETS[partner];
  const seconds = String(Math.floor(now / SECOND));
  switch (partner) {
    case 'crm-hmac':
      return signedBy('hmac-sha256', secret, { body });
    case 'crm-v3':
      return signedBy('signature-v3', secret, { body, uri, at: now });
    case 'crm-standard': {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      const content = `${messageId}.${seconds}.${body}`;
      return {
        'webhook-id': messageId,
        'webhook-timestamp': seconds,
        'webhook-signature': `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
      };
    }
    case 'crm-own': {
      const digest = createHmac('sha512', secret).update(`${seconds}.${body}`).digest('base64');
      return { 'x-own-signature': `t=${seconds},v1=${digest}` };
    }
  }
}
