import type { Compatibility } from '#catalog/compatibility/compatibility.ts';
import { isBeforeSunset } from '#catalog/lifecycle/lifecycle.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import type { FormProblem, TypedFields } from '../../page.ts';
import { may } from '../../person.ts';
import type { PortalPerson } from '../../person.ts';
import { html } from '../../html.ts';
import type { Html, HtmlValue } from '../../html.ts';
import { list } from '../../shell/card.ts';
import { check, input } from '../../shell/fields.ts';
import { confirmation } from '../../shell/forms.ts';
import type { ConfirmationFacts } from '../../shell/forms.ts';
import { errorSummary, problemOf, remark } from '../../shell/notice.ts';
import { code, foreign, link } from '../../shell/parts.ts';
import { count, counted } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import { findingsList } from './artifact/artifact-view.ts';
import { breakingBox, breakingRemark } from './breaking.ts';
import { artifactPath, versionPath } from './query.ts';
import { sunsetDayText } from './words.ts';

export type ConfirmFacts = {
  view: VersionView;
  person: PortalPerson;
  /** What the person saw: the entity tag that the action asks for. */
  seen: string;
  problems?: readonly FormProblem[];
  typed?: TypedFields;
};

/** What is known of a draft that is to be published, and whether each stops it. */
export type PublishFacts = ConfirmFacts & {
  stops: boolean;
  compatibility: Compatibility;
  stopsAtBreaking: boolean;
  /** The default version before, and whether it was set as such. */
  before: { version: string; isSet: boolean } | undefined;
  /** The default version once this one is published. */
  after: string | undefined;
};

/** Asks before content is frozen; says what it breaks, and what validation found. */
export function publishView(given: PublishFacts): Html {
  const { view, compatibility, stopsAtBreaking, problems = [], typed = {} } = given;
  const { version, findings } = view.record;
  const mustAccept = stopsAtBreaking && compatibility.breaking.length > 0;
  const isStopped = findings.length > 0 && given.stops;
  const warning = html`${breakingRemark(compatibility, mustAccept)}
  ${findingsRemark(given, isStopped)}`;
  const question = { below: 'publish', warning };
  if (isStopped) return confirm('Not published', given, { ...question, consequences: [] });
  return confirm('Not published', given, {
    ...question,
    ...(mustAccept && { fields: [breakingBox(problems, typed['breaking'] === 'accept')] }),
    consequences: [
      defaultWords(given),
      'Whoever reads the catalog can rely on it: its content is frozen from now on.',
      'Title, description, owner and group can still be changed.',
      'It cannot become a draft again. It can be deprecated, and later retired.',
    ],
    submit: `Publish ${version}`,
  });
}

/** Nothing is called clean that breaks something. */
function findingsRemark(given: PublishFacts, isStopped: boolean): Html | undefined {
  const { view, compatibility } = given;
  const { findings } = view.record;
  if (findings.length === 0 && compatibility.breaking.length > 0) return undefined;
  if (findings.length === 0)
    return remark('ok', view.specText === undefined ? 'It has no spec' : 'No findings');
  const found = counted(findings.length, 'finding');
  const heading = isStopped ? `${found}: it cannot be published like this` : found;
  const text = html`${findingsList(findings)}${isStopped && mendLink(given)}`;
  return remark(isStopped ? 'bad' : 'warn', heading, text);
}

/** What readers get who name no version. */
function defaultWords({ view, before, after }: PublishFacts): Html {
  const { version } = view.record;
  if (after === version)
    return html`<b>It becomes the default</b>: readers who name no version get
      ${code(version)}${before && html` in place of ${code(before.version)}`} from now on.`;
  const why = before?.isSet === true ? 'which was set as the default' : 'the higher version';
  return html`Readers who name no version stay with ${code(after ?? '')}, ${why}.`;
}

/** Where a draft with findings is mended, for who may. */
function mendLink({ view, person }: ConfirmFacts): Html | false {
  const { id, version } = view.record;
  if (!may(person, 'catalog:write')) return false;
  return html`<p>${link({ href: versionPath(id, version, 'edit'), text: 'Edit the draft' })}</p>`;
}

/** More than a day has; the rest of a longer text is no use to anybody. */
const DAY_CHARACTERS_SHOWN = 20;

/** Asks until when a version stays, and shows what takes its place and what it holds. */
export function deprecateView(
  given: ConfirmFacts & { next: string | undefined },
  reader: Reader,
): Html {
  const { view, typed = {}, problems = [], next } = given;
  const { version, lifecycle, sunsetAt } = view.record;
  const isAgain = lifecycle === 'DEPRECATED';
  const known = sunsetAt === undefined ? '' : new Date(sunsetAt).toISOString().slice(0, 10);
  const value = typed['sunset'];
  return confirm(isAgain ? 'Not changed' : 'Not deprecated', given, {
    below: 'deprecate',
    consequences: [
      html`Readers go on getting it, with the headers ${code('Deprecation')} and, with a date,
      ${code('Sunset')}.`,
      next === undefined
        ? 'No other version is published: nothing takes its place yet.'
        : html`Its successor is ${code(next)}.`,
      isAgain
        ? 'Nothing retires by itself on the date.'
        : 'Nothing retires by itself on the date. Reinstating undoes it.',
    ],
    fields: [
      input({
        name: 'sunset',
        label: 'Sunset: the last day it stays',
        type: 'date',
        min: new Date(reader.nowMs).toISOString().slice(0, 10),
        value: typeof value === 'string' ? value.slice(0, DAY_CHARACTERS_SHOWN) : known,
        note: isAgain
          ? 'It ends with that day, in UTC.'
          : 'Optional. It ends with that day, in UTC.',
        error: problemOf(problems, 'sunset'),
      }),
      membersOf(view),
    ],
    submit: isAgain ? 'Move the sunset' : `Deprecate ${version}`,
  });
}

const MEMBERS_SHOWN = 20;

function membersOf({ members = [], counts }: VersionView): Html {
  if (members.length === 0) return html``;
  const rest = (counts['members'] ?? members.length) - Math.min(members.length, MEMBERS_SHOWN);
  const items: HtmlValue[] = members
    .slice(0, MEMBERS_SHOWN)
    .map(
      ({ id, title, type }) =>
        html`${link({ href: artifactPath(id), text: foreign(title, 80) })}, ${type}`,
    );
  return html`<div>
    <h2>What it holds</h2>
    ${list(...items, ...(rest > 0 ? [`${count(rest)} more`] : []))}
    <p class="note">These stay as they are: only the version itself is deprecated.</p>
  </div>`;
}

/** Asks for the version before it is gone for good. */
export function retireView(given: ConfirmFacts, reader: Reader): Html {
  const { record, successor } = given.view;
  const { version, sunsetAt = reader.nowMs } = record;
  const isEarly = isBeforeSunset(record, reader.nowMs);
  return confirm('Not retired', given, {
    below: 'retire',
    ...(isEarly && {
      warning: remark(
        'warn',
        `Its sunset is ahead: ${sunsetDayText(sunsetAt, reader)}`,
        'Readers were told that they can rely on it until then.',
      ),
    }),
    consequences: [
      'Readers who name no version never get it any more.',
      successor === undefined
        ? 'No other version takes its place.'
        : html`Its successor is ${code(successor)}.`,
      'It stays readable by its name. This cannot be undone.',
    ],
    fields: [...(isEarly ? [earlyBox(given)] : []), typedField(given)],
    submit: `Retire ${version}`,
    danger: true,
  });
}

function earlyBox({ problems = [], typed = {} }: ConfirmFacts): Html {
  return check({
    name: 'early',
    label: 'Retire it before its sunset',
    value: 'yes',
    checked: typed['early'] === 'yes',
    error: problemOf(problems, 'early'),
  });
}

/** Asks before the default is computed again; `next` is what it will be. */
export function unsetDefaultView(given: ConfirmFacts & { next: string | undefined }): Html {
  const { record, isSetDefault } = given.view;
  const { version } = record;
  const { next = version } = given;
  const now = html`Readers who name no version get ${code(next)} from now on.`;
  const same = html`${code(version)} stays the default until a higher version is published.`;
  return confirm('Not changed', given, {
    below: 'unset-default',
    ...(!isSetDefault && { warning: remark('warn', `${version} is not set as the default`) }),
    consequences: [
      next === version ? same : now,
      'The default is the highest published version again, and moves with each publish.',
      'It can be set again.',
    ],
    submit: 'Unset default',
  });
}

/** Asks for the version before a draft is deleted. */
export function deleteView(given: ConfirmFacts): Html {
  const { record, counts } = given.view;
  return confirm('Not deleted', given, {
    below: 'delete',
    consequences: [
      'The draft goes with its spec; the audit keeps that it was there.',
      ...(counts['versions'] === 1 ? ['It is the only version: the artifact goes with it.'] : []),
      'This cannot be undone.',
    ],
    fields: [typedField(given)],
    submit: `Delete draft ${record.version}`,
    danger: true,
  });
}

function typedField({ view, problems = [] }: ConfirmFacts): Html {
  return input({
    name: 'typed',
    label: html`Type the version: ${code(view.record.version)}`,
    error: problemOf(problems, 'typed'),
  });
}

type Question = Omit<ConfirmationFacts, 'action' | 'person' | 'cancel'> & { below: string };

function confirm(heading: string, given: ConfirmFacts, { below, ...question }: Question): Html {
  const { view, person, seen, problems = [] } = given;
  const { id, version }: VersionRecord = view.record;
  const summary = problems.length > 0 && errorSummary({ heading, problems });
  return html`${summary}${confirmation({
    ...question,
    action: versionPath(id, version, below),
    person,
    values: { seen },
    cancel: { href: artifactPath(id, { version }), text: 'Cancel' },
  })}`;
}
