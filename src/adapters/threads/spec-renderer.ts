import { renderSpecYaml } from '#catalog/spec/spec-yaml.ts';
import type { RenderSpecYaml } from '#catalog/spec/spec-yaml.ts';
import type { Clock } from '#shared/clock.ts';
import { refuseThread } from './heavy-body.ts';
import type * as functions from './spec-functions.ts';
import { createThread } from './thread.ts';

/** Shorter specs are rendered in a few milliseconds. */
const INLINE_CHARACTERS_MAX = 64 * 1024;

/** Renders big specs in a thread of its own. @throws {overloaded} when that takes too long */
export function createSpecRenderer({ clock }: { clock: Pick<Clock, 'sleep'> }): RenderSpecYaml {
  const module = new URL('spec-functions.ts', import.meta.url);
  const thread = createThread<typeof functions>({ module, clock });
  return async (specText) =>
    specText.length <= INLINE_CHARACTERS_MAX
      ? renderSpecYaml(specText)
      : thread
          .run('yaml', specText)
          .catch((error: unknown) =>
            refuseThread(error, 'The spec could not be written as YAML in time.'),
          );
}
