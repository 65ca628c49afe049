import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Whole programs take longest. */
const PROJECTS = ['programs', 'together', 'apart'];

/** Short files whose tests take longest. */
const LONG =
  /\/test\/(?:torture|browser)\/|\/e2e\/(?:sandbox|docs\/proxy|service\/store-copy)\.test/;

/**
 * Where no run before tells how long files take, Vitest begins with the largest: what it then ends with takes a minute
 * alone. Files of a project follow each other, for a process serves one project.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const turnOf = ({ moduleId, project }: TestSpecification): number =>
      LONG.test(moduleId) ? -1 : PROJECTS.indexOf(project.name);
    return sorted.toSorted((left, right) => turnOf(left) - turnOf(right));
  }
}
