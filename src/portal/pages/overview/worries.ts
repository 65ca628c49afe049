/** What goes wrong, or soon will, between this service and those who call it: partners and consumers. */
import { keyStateAt } from '#access/consumers/consumer.ts';
import type { Consumer, Key } from '#access/consumers/consumer.ts';
import type { PartnerSummary } from '#partners/list-partners.ts';
import { DAY, HOUR } from '#shared/clock.ts';

import type { Html } from '../../html.ts';
import { foreign, link } from '../../shell/parts.ts';
import type { State } from '../../shell/parts.ts';
import { ago } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import { consumerPath, consumersPath } from '../consumers/query.ts';
import { KEY_ENDS_SOON_MS } from '../consumers/words.ts';
import { partnerPath, PARTNERS_PATH } from '../partners/query.ts';
import { verdictOf } from '../partners/verdict.ts';

/** A kind of worry with whom it concerns. */
export type Worry = {
  state: Extract<State, 'bad' | 'warn'>;
  /** By how many: the heading of the page. */
  headings: { one: string; many: string };
  /** Where all of them are. */
  href: string;
  of: readonly Affected[];
};

type Affected = { badge: string; name: Html; when?: Html; next: string; href: string };

/** A key that let nobody in for so long is not missed when it ends. */
const USED_WITHIN_MS = 7 * DAY;
/** The old key of a rotation is in use if it was used within this time. */
const OLD_USED_WITHIN_MS = HOUR;

export type Callers = {
  partners: readonly PartnerSummary[];
  /** Consumers without a key that works. */
  keyless: readonly Consumer[];
  /** Those with a key that ends soon. */
  ending: readonly Consumer[];
};

/** Only kinds that concern somebody, the gravest first. */
export function worriesOf(callers: Callers, reader: Reader): Worry[] {
  const all = [refused(callers, reader), endingKeys(callers, reader), keyless(callers)];
  return all.filter(({ of }) => of.length > 0);
}

function refused({ partners }: Callers, { nowMs }: Reader): Worry {
  const of = partners.flatMap((partner) => {
    const { state, words, nextStep = '' } = verdictOf(partner, nowMs);
    const next = `${nextStep.charAt(0).toUpperCase()}${nextStep.slice(1)}`;
    const name = foreign(partner.id, 60);
    return state === 'bad' ? [{ badge: words, name, next, href: partnerPath(partner.id) }] : [];
  });
  const headings = { one: 'A partner is refused', many: 'partners are refused' };
  return { state: 'bad', headings, href: PARTNERS_PATH, of };
}

function endingKeys({ ending }: Callers, reader: Reader): Worry {
  const of = ending.flatMap(({ id, name, keys }) =>
    keys
      .filter((key) => endsInUse(key, reader.nowMs))
      .map(({ expiresAt = 0, replacedBy }) => ({
        badge: 'Key ends',
        name: foreign(name, 60),
        when: ago(expiresAt, reader),
        next:
          replacedBy === undefined
            ? 'Rotate it: the old one goes on for the overlap.'
            : 'It was replaced, and is still in use: bring the new one to its consumer.',
        href: consumerPath(id),
      })),
  );
  const headings = { one: 'A key in use ends soon', many: 'keys in use end soon' };
  return { state: 'warn', headings, href: consumersPath({ expires: '14' }), of };
}

function endsInUse(key: Key, now: number): boolean {
  const { expiresAt = Infinity, lastUsedAt = -Infinity, replacedBy } = key;
  const withinMs = replacedBy === undefined ? USED_WITHIN_MS : OLD_USED_WITHIN_MS;
  const isActive = keyStateAt(key, now) === 'active';
  return isActive && expiresAt - now < KEY_ENDS_SOON_MS && now - lastUsedAt < withinMs;
}

function keyless({ keyless: consumers }: Callers): Worry {
  const of = consumers.map(({ id, name }) => ({
    badge: 'No key',
    name: foreign(name, 60),
    next: 'Add a key, or revoke the consumer: nobody can read as it.',
    href: consumerPath(id),
  }));
  const headings = { one: 'A consumer has no key', many: 'consumers have no key' };
  return { state: 'warn', headings, href: consumersPath({ state: 'no-key' }), of };
}

/** The way to them, for the head of the page. */
export function toAffected({ of, href }: Worry): Html {
  const [only] = of;
  return only && of.length === 1
    ? link({ href: only.href, text: 'See it', look: 'button' })
    : link({ href, text: 'See them', look: 'button' });
}
