/** Steps in the life of a version, from publishing it to retiring it, and which one is the default. */
import type { VersionView } from '#catalog/version/artifact.ts';
import { z } from 'zod';
import {
  type BaselineComparison,
  NOT_COMPARED,
  compareToBaseline,
} from '#catalog/compatibility.ts';
import {
  deprecateVersion,
  reinstateVersion,
  retireVersion,
  setDefault,
  unsetDefault,
} from '#catalog/lifecycle/change-lifecycle.ts';
import { isBeforeSunset, sunsetOfDay } from '#catalog/lifecycle/transitions.ts';
import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { isInUse, readUsage, type VersionReader } from '#catalog/usage.ts';
import { chooseListed } from '#catalog/version/version-order.ts';
import { isTrackportError, refuse } from '#shared/errors.ts';
import type { PortalContext } from '../../context.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { may } from '../../page.ts';
import { VERSION_PATH, artifactPath, versionPath } from '../../paths.ts';
import { action } from '../../routes/action-route.ts';
import { list, remark } from '../../shell/card.ts';
import { code, foreign, link, note, place, sentence } from '../../shell/elements.ts';
import { check, held, input } from '../../shell/forms.ts';
import { ago, count, counted } from '../../shell/times.ts';
import { findingsList } from './artifact-page.ts';
import { sunsetDay } from './catalog-list.ts';
import { readerName } from './artifact-cards.ts';
import {
  callerOf,
  publishing,
  shown,
  type VersionRequest,
  versionAction,
  readDefault,
} from './version-actions.ts';

/** Asks before content is frozen: says what it breaks, and what validation found. */
const publishAction = versionAction({
  title: 'Publish',
  action: 'publish',
  form: z.object({ breaking: z.literal('accept').optional() }),
  explain: async (context, request) => {
    const { catalog } = context;
    const { version, findings } = request.view.record;
    const rules = catalog.rules();
    const compared = await compareToBaseline(catalog, request.person, request.view, rules);
    const isStopped = findings.length > 0 && rules.findings === 'block';
    const mustAccept = rules.compatibility === 'block' && compared.breaking.length > 0;
    const failed = 'Not published';
    const warning = html`${breakingRemark(compared, mustAccept)}
    ${findingsRemark(request, compared, isStopped)}`;
    if (isStopped) return { failed, warning, consequences: [] };
    return {
      failed,
      warning,
      ...(mustAccept && { fields: [check(breakingBox, request)] }),
      consequences: [
        await defaultWords(context, request),
        'Whoever reads the catalog can rely on it: its content is frozen from now on.',
        'Title, description, owner and group can still be changed.',
        'It cannot become a draft again. It can be deprecated, and later retired.',
      ],
      submit: `Publish ${version}`,
    };
  },
  run: async ({ catalog }, request, target) => {
    const acceptsBreaking = request.form.breaking === 'accept';
    const publication = { acceptsBreaking, ...target };
    const view = await atBreaking(() => publishVersion(catalog, callerOf(request), publication));
    return shown(view, `${target.version} is published.`);
  },
});

/** Nothing is called clean that breaks something. */
function findingsRemark(
  { view, person }: VersionRequest,
  { breaking }: BaselineComparison,
  isStopped: boolean,
): Html | undefined {
  const { id, version, findings } = view.record;
  if (findings.length === 0 && breaking.length > 0) return undefined;
  if (findings.length === 0)
    return remark('ok', view.specText === undefined ? 'It has no spec' : 'No findings');
  const found = counted(findings.length, 'finding');
  const heading = isStopped ? `${found}: it cannot be published like this` : found;
  const edit = link(versionPath(id, version, 'edit'), 'Edit the draft');
  const mend = isStopped && may(person, 'catalog:write') && html`<p>${edit}</p>`;
  return remark(isStopped ? 'bad' : 'warn', heading, html`${findingsList(findings)}${mend}`);
}

/** The version that readers get who name none. */
async function defaultWords({ catalog }: PortalContext, request: VersionRequest): Promise<Html> {
  const { view, others, person, viewer } = request;
  const { id, version } = view.record;
  const before = await readDefault(catalog, person, id);
  const published = { ...view.record, lifecycle: 'PUBLISHED', publishedAt: viewer.nowMs } as const;
  const after =
    before?.isSetDefault === true
      ? before.record.version
      : chooseListed([published, ...others], undefined)?.version;
  if (after === version)
    return html`<b>It becomes the default</b>: readers who name no version get
      ${code(version)}${before && html` in place of ${code(before.record.version)}`} from now on.`;
  const why = before?.isSetDefault === true ? 'which was set as the default' : 'the higher version';
  return html`Readers who name no version stay with ${code(after ?? '')}, ${why}.`;
}

const CHANGES_SHOWN = 30;

/** Changes that break readers of a draft once it is published; nothing where it was compared with no version. */
function breakingRemark(
  { against, breaking, unclassified }: BaselineComparison,
  stops: boolean,
): Html | undefined {
  if (!against) return undefined;
  if (breaking.length === 0) return nothingKnown(against.version, unclassified);
  if (breaking[0] === NOT_COMPARED)
    return remark(
      stops ? 'bad' : 'warn',
      html`It could not be compared with ${code(against.version)} in time`,
      'Nobody knows what it breaks.',
    );
  const shown = breaking.slice(0, CHANGES_SHOWN);
  const rest = breaking.length - shown.length;
  const changes = list(...shown.map(({ path, text }) => html`${sentence(text)} ${place(path)}`));
  const heading = html`${counted(breaking.length, 'breaking change')} against
  ${code(against.version)}`;
  return remark(
    stops ? 'bad' : 'warn',
    heading,
    html`${changes}${rest > 0 && note(`${count(rest)} more.`)}`,
  );
}

/** Unclassified changes may break all the same. */
function nothingKnown(version: string, unclassified: number | undefined): Html {
  if (unclassified === 0) return remark('ok', html`It breaks nothing of ${code(version)}`);
  return remark(
    'wait',
    html`Nothing is known to break ${code(version)}`,
    unclassified === undefined
      ? 'Nobody can judge its changes, and they are too many to be counted in time.'
      : `Look at ${counted(unclassified, 'change')} that nobody can judge: compare the two versions.`,
  );
}

/** Asks whether breaking changes are accepted. */
const breakingBox = {
  name: 'breaking',
  label: 'Publish it with its breaking changes',
  note: 'A higher major number says the same to everybody.',
  value: 'accept',
};

/** The page lists breaking changes itself: only that they must be accepted comes back at the box. */
async function atBreaking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isTrackportError(error, 'breaking-change')) throw error;
    const detail = 'It has breaking changes. Tick the box to publish it all the same.';
    return refuse([{ pointer: '#/breaking', code: 'required', detail }]);
  }
}

const deprecateForm = z.object({
  sunset: z
    .union([z.literal(''), z.iso.date('Choose a day, such as 2027-06-01.')])
    .transform((day) => (day === '' ? undefined : Date.parse(sunsetOfDay(day)))),
});

/** Asks until when a version stays, and shows who reads it, what takes its place and what it holds. */
const deprecateAction = versionAction({
  title: 'Deprecate',
  action: 'deprecate',
  form: deprecateForm,
  explain: async (context, request) => {
    const { view, others } = request;
    const readers = await readersLeft(context, request);
    const { version, lifecycle } = view.record;
    const isAgain = lifecycle === 'DEPRECATED';
    const published = others.filter((one) => one.lifecycle === 'PUBLISHED');
    const next = view.successor ?? chooseListed(published, undefined)?.version;
    return {
      failed: isAgain ? 'Not changed' : 'Not deprecated',
      ...(readers.length > 0 && { warning: readersRemark(readers, request) }),
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
      fields: [sunsetField(request, isAgain), membersOf(view)],
      submit: isAgain ? 'Move the sunset' : `Deprecate ${version}`,
    };
  },
  run: async ({ catalog }, request, target) => {
    const deprecation = { sunsetAt: request.form.sunset, ...target };
    const view = await deprecateVersion(catalog, callerOf(request), deprecation);
    return shown(view, `${target.version} is deprecated.`);
  },
});

/** More than a day has; the rest of a longer text is no use to anybody. */
const DAY_CHARACTERS_SHOWN = 20;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function sunsetField(request: VersionRequest, isAgain: boolean): Html {
  const { sunsetAt } = request.view.record;
  const { value, ...rest } = held('sunset', request, sunsetAt === undefined ? '' : dayOf(sunsetAt));
  const note = 'It ends with that day, in UTC.';
  return input({
    ...rest,
    label: 'Sunset: the last day it stays',
    type: 'date',
    min: dayOf(request.viewer.nowMs),
    value: value?.slice(0, DAY_CHARACTERS_SHOWN),
    note: isAgain ? note : `Optional. ${note}`,
  });
}

const MEMBERS_SHOWN = 20;

function membersOf({ members = [], counts }: VersionView): Html {
  if (members.length === 0) return html``;
  const rest = (counts['members'] ?? members.length) - Math.min(members.length, MEMBERS_SHOWN);
  const items: HtmlValue[] = members
    .slice(0, MEMBERS_SHOWN)
    .map(({ id, title, type }) => html`${link(artifactPath(id), foreign(title, 80))}, ${type}`);
  return html`<div>
    <h2>What it holds</h2>
    ${list(...items, ...(rest > 0 ? [`${count(rest)} more`] : []))}
    <p class="note">These stay as they are: only the version itself is deprecated.</p>
  </div>`;
}

/** Asks for the version before it is gone for good. */
const retireAction = versionAction({
  title: 'Retire',
  action: 'retire',
  isFinal: true,
  form: z.object({ early: z.literal('yes').optional() }),
  explain: async (context, request) => {
    const { view, viewer } = request;
    const { record, successor } = view;
    const { version, sunsetAt = viewer.nowMs } = record;
    const isAhead = isBeforeSunset(record, viewer.nowMs);
    const ahead = html`Its sunset is ahead: ${sunsetDay(sunsetAt, viewer)}`;
    const promise = 'Readers were told that they can rely on it until then.';
    const readers = await readersLeft(context, request);
    const isEarly = isAhead || readers.length > 0;
    const warning = html`${isAhead && remark('warn', ahead, promise)}
    ${readers.length > 0 && readersRemark(readers, request)}`;
    return {
      failed: 'Not retired',
      ...(isEarly && { warning }),
      consequences: [
        'Readers who name no version never get it any more.',
        successor === undefined
          ? 'No other version takes its place.'
          : html`Its successor is ${code(successor)}.`,
        'It stays readable by its name. This cannot be undone.',
      ],
      ...(isEarly && { fields: [check(isAhead ? earlyBox : unreadBox, request)] }),
      submit: `Retire ${version}`,
    };
  },
  run: async ({ catalog }, request, target) => {
    const retirement = { isEarly: request.form.early === 'yes', ...target };
    const view = await retireVersion(catalog, callerOf(request), retirement);
    return shown(view, `${target.version} is retired.`);
  },
});

const earlyBox = { name: 'early', label: 'Retire it before its sunset', value: 'yes' };
const unreadBox = { ...earlyBox, label: 'Retire it although it is read' };

/** Readers who are likely to read the version again. */
async function readersLeft(
  { catalog }: PortalContext,
  { person, params, viewer }: VersionRequest,
): Promise<VersionReader[]> {
  const mayName = (): boolean => may(person, 'trackport:admin');
  const { items } = await readUsage(catalog, person, { ...params, mayName });
  return items.flatMap(({ readers }) => readers.filter((one) => isInUse(one, viewer.nowMs)));
}

const READERS_NAMED = 20;

function readersRemark(readers: readonly VersionReader[], request: VersionRequest): Html {
  const { person, viewer } = request;
  const rest = readers.length - READERS_NAMED;
  const named = readers
    .slice(0, READERS_NAMED)
    .map((one) => html`${readerName(one, person)}, ${ago(one.lastReadAt, viewer)}`);
  const who = list(...named, ...(rest > 0 ? [`${count(rest)} more`] : []));
  return remark('warn', `${counted(readers.length, 'reader')} in the last 30 days`, who);
}

/** Asks before the default is computed again. */
const restoreDefault = versionAction({
  title: 'Unset default',
  action: 'unset-default',
  form: z.object({}),
  explain: (_context, { view: { record, isSetDefault }, others }) => {
    const { version } = record;
    const next = chooseListed([record, ...others], undefined)?.version ?? version;
    const now = html`Readers who name no version get ${code(next)} from now on.`;
    const same = html`${code(version)} stays the default until a higher version is published.`;
    return {
      failed: 'Not changed',
      ...(!isSetDefault && { warning: remark('warn', `${version} is not set as the default`) }),
      consequences: [
        next === version ? same : now,
        'The default is the highest published version again, and moves with each publish.',
        'It can be set again.',
      ],
      submit: 'Unset default',
    };
  },
  run: async ({ catalog }, request, target) => {
    const view = await unsetDefault(catalog, callerOf(request), target);
    return shown(view, `No version is set as the default now. It is ${view.record.version}.`);
  },
});

/** Actions that can be undone need no page that asks. */
const reinstateAction = action({
  path: `${VERSION_PATH}/reinstate`,
  ...publishing,
  run: async ({ catalog }, request) => {
    const view = await reinstateVersion(catalog, callerOf(request), request.params);
    return shown(view, `${request.params.version} is published again.`);
  },
});

const makeDefaultAction = action({
  path: `${VERSION_PATH}/default`,
  ...publishing,
  run: async ({ catalog }, request) => {
    const view = await setDefault(catalog, callerOf(request), request.params);
    return shown(view, `${request.params.version} is the default now.`);
  },
});

/** In the order in which they come. */
export const lifecycleActions = [
  publishAction,
  deprecateAction,
  retireAction,
  restoreDefault,
  reinstateAction,
  makeDefaultAction,
];
