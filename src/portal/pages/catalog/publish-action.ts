import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { z } from 'zod';
import { type Compatibility, NOT_COMPARED, compareToBaseline } from '#catalog/compatibility.ts';
import { chooseListed } from '#catalog/version/version-order.ts';
import { isTrackportError, refuse } from '#shared/errors.ts';
import { html, type Html } from '../../html.ts';
import { may } from '../../page.ts';
import { list } from '../../shell/card.ts';
import { remark } from '../../shell/notice.ts';
import { check } from '../../shell/forms.ts';
import { code, link, note, place, sentence } from '../../shell/elements.ts';
import { count, counted } from '../../shell/times.ts';
import type { PortalContext } from '../../context.ts';
import { findingsList } from './artifact-view.ts';
import {
  readDefault,
  callerOf,
  shown,
  type VersionRequest,
  versionAction,
} from './version-actions.ts';
import { versionPath } from '../../paths.ts';

/** Asks before content is frozen: says what it breaks, and what validation found. */
export const publish = versionAction({
  title: 'Publish',
  action: 'publish',
  form: z.object({ breaking: z.literal('accept').optional() }),
  explain: async (context, request) => {
    const { catalog } = context;
    const { version, findings } = request.view.record;
    const compatibility = await compareToBaseline(catalog, request.person, request.params);
    const isStopped = findings.length > 0 && catalog.findings === 'block';
    const mustAccept = catalog.compatibility === 'block' && compatibility.breaking.length > 0;
    const failed = 'Not published';
    const warning = html`${breakingRemark(compatibility, mustAccept)}
    ${findingsRemark(request, compatibility, isStopped)}`;
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
  { breaking }: Compatibility,
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
  { against, breaking, unclassified }: Compatibility,
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
