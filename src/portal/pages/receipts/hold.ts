import { html, type Html } from '../../html.ts';
import { link } from '../../shell/elements.ts';
import type { Viewer } from '../../shell/times.ts';
import type { PagesContext } from '../../context.ts';
import { toHealthLine } from '../overview/health-lines.ts';

/** States in which nothing of what is under way gets done. A partner that is lacking holds up its own events alone. */
const HOLDS: readonly [check: string, states: readonly string[]][] = [
  ['worker', ['paused', 'failing', 'stopped']],
  ['tracker', ['failing', 'exhausted']],
];

/** Why nothing that is under way gets done now, since when, and what to do, as the overview says it. */
export async function holdUp(
  { readiness }: Pick<PagesContext, 'readiness'>,
  viewer: Viewer,
): Promise<Html | undefined> {
  const { checks } = await readiness();
  for (const [name, states] of HOLDS) {
    const check = checks[name];
    if (!check || !states.includes(check.state)) continue;
    const { heading, label, text } = toHealthLine(name, check, viewer);
    return html`${heading ?? label}. ${text} ${link('/portal', 'Overview')}`;
  }
  return undefined;
}
