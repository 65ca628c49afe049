import type { Lifecycle, VersionRecord } from '#catalog/version/artifact.ts';
import { may } from '../../person.ts';
import type { PortalPerson } from '../../person.ts';
import type { Html } from '../../html.ts';
import { row } from '../../shell/card.ts';
import { actionButton } from '../../shell/forms.ts';
import { link } from '../../shell/parts.ts';
import { versionPath } from './query.ts';

type Below = 'publish' | 'deprecate' | 'retire' | 'delete' | 'edit' | 'unset-default';

const LINKS: Readonly<Record<Below, string>> = {
  edit: 'Edit',
  publish: 'Publish…',
  deprecate: 'Deprecate…',
  retire: 'Retire…',
  delete: 'Delete…',
  'unset-default': 'Unset default…',
};

/** What a state allows, in the order of its use. */
const WRITING: Readonly<Record<Lifecycle, readonly Below[]>> = {
  DRAFT: ['edit', 'delete'],
  PUBLISHED: ['edit'],
  DEPRECATED: ['edit'],
  RETIRED: [],
};
const PUBLISHING: Readonly<Record<Lifecycle, readonly Below[]>> = {
  DRAFT: ['publish'],
  PUBLISHED: ['deprecate'],
  DEPRECATED: ['deprecate', 'retire'],
  RETIRED: [],
};

type Offering = {
  person: PortalPerson;
  isDefault: boolean;
  /** It is the default because it was set as such. */
  isSetDefault: boolean;
};

/** What this person can do about a version, as links and buttons. */
export function offeredActions(
  record: VersionRecord,
  { person, isDefault, isSetDefault }: Offering,
): Html {
  const { id, version, lifecycle } = record;
  const mayPublish = may(person, 'catalog:publish');
  const offered = [
    ...(mayPublish ? PUBLISHING[lifecycle] : []),
    ...(mayPublish && isSetDefault ? (['unset-default'] as const) : []),
    ...(may(person, 'catalog:write') ? WRITING[lifecycle] : []),
  ];
  const press = (below: string, text: string): Html =>
    actionButton({
      action: versionPath(id, version, below),
      person,
      text,
      look: 'small',
      more: version,
    });
  const links = offered.map((below) => {
    const text = below === 'deprecate' && lifecycle === 'DEPRECATED' ? 'Sunset…' : LINKS[below];
    return link({ href: versionPath(id, version, below), text, more: version });
  });
  const canBeDefault = mayPublish && !isDefault && ['PUBLISHED', 'DEPRECATED'].includes(lifecycle);
  return row(
    ...links,
    mayPublish && lifecycle === 'DEPRECATED' && press('reinstate', 'Reinstate'),
    canBeDefault && press('default', 'Make default'),
  );
}
