import type { Consumer } from '#access/consumers/consumer.ts';
import type { PortalPerson } from '../../../person.ts';
import type { FormProblem } from '../../../page.ts';
import type { Html } from '../../../html.ts';
import { body, card, row } from '../../../shell/card.ts';
import { button, postForm } from '../../../shell/forms.ts';
import { problemOf } from '../../../shell/notice.ts';
import { note } from '../../../shell/parts.ts';
import { grantsDigest, toVisibility } from '../forms.ts';
import type { Visibility } from '../forms.ts';
import { consumerPath } from '../query.ts';
import { visibilityFields } from '../visibility.ts';
import type { KnownLabels } from '../visibility.ts';
import { grantWords } from '../words.ts';

export type GrantsCardFacts = {
  consumer: Consumer;
  person: PortalPerson;
  labels: KnownLabels;
  /** What was chosen, when the form came back. */
  chosen?: Visibility;
  /** Which grants the page showed before a sign-in. */
  seen?: string;
  problems?: readonly FormProblem[];
};

/** Which leads the consumer may see, and whose catalog. The form tells which grants it shows. */
export function grantsCard(given: GrantsCardFacts): Html {
  const { consumer, person, labels, chosen, problems = [] } = given;
  const { id, grants, state } = consumer;
  const { seen = grantsDigest(grants) } = given;
  const names = { id: 'h-grants', heading: 'Grants' };
  if (state === 'revoked') return card(names, body(grantWords(grants)));
  const form = { action: consumerPath(id, 'grants'), person, look: 'body' as const };
  return card(
    names,
    postForm(
      { ...form, values: { seen } },
      visibilityFields(chosen ?? toVisibility(grants), labels, (name) => problemOf(problems, name)),
      row(button('Save grants', { look: 'primary' }), note('Takes effect at once, for every key.')),
    ),
  );
}
