import type { Config } from '#config/schema/schema.ts';
import {
  createPartner,
  createPartnerList,
  type EventRule,
  type PartnerList,
} from '#partners/partner.ts';

/** The partners of a configuration. */
export function toPartnerList({ partners, leads }: Config): PartnerList {
  const toRule = ({ setFields, ...rule }: EventRule): EventRule => ({
    ...rule,
    ...(setFields && { setFields: byTrackerNames(setFields, leads.issueFields) }),
  });
  return createPartnerList(
    Object.entries(partners).map(([id, settings]) =>
      createPartner(id, { ...settings, events: settings.events?.map(toRule) }),
    ),
  );
}

/** The configuration knows every name: it is checked, and `leads` stays as it was at the start. */
function byTrackerNames(
  setFields: NonNullable<EventRule['setFields']>,
  issueFields: Config['leads']['issueFields'],
): NonNullable<EventRule['setFields']> {
  return Object.fromEntries(
    Object.entries(setFields).map(([name, value]) => [issueFields[name] ?? name, value]),
  );
}
