import { NOT_COMPARED } from '#catalog/compatibility/compatibility.ts';
import type { Compatibility } from '#catalog/compatibility/compatibility.ts';
import { isTrackportError, refuse } from '#shared/errors.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { FormProblem } from '../../page.ts';
import { list } from '../../shell/card.ts';
import { check } from '../../shell/fields.ts';
import { problemOf, remark } from '../../shell/notice.ts';
import { code, note, place, sentence } from '../../shell/parts.ts';
import { count, counted } from '../../shell/times.ts';

const CHANGES_SHOWN = 30;

/** What a draft breaks once it is published; nothing where it was compared with no version. */
export function breakingRemark(
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

/** What cannot be judged may break all the same. */
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
export function breakingBox(problems: readonly FormProblem[], isChecked: boolean): Html {
  return check({
    name: 'breaking',
    label: 'Publish it with its breaking changes',
    note: 'A higher major number says the same to everybody.',
    value: 'accept',
    checked: isChecked,
    error: problemOf(problems, 'breaking'),
  });
}

/** The page lists breaking changes itself: only that they must be accepted comes back at the box. */
export async function atBreaking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isTrackportError(error, 'breaking-change')) throw error;
    const detail = 'It has breaking changes. Tick the box to publish it all the same.';
    return refuse([{ pointer: '#/breaking', code: 'required', detail }]);
  }
}
