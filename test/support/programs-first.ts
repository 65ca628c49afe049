import { BaseSequencer, type TestSpecification } from 'vitest/node';

const PROJECTS = ['programs', 'together', 'apart'];

/**
 * What a run ends with takes as long as it does alone: whole programs take longest. Files of a project follow each
 * other, for a process serves one project.
 */
export class ProgramsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turnOf = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name);
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => turnOf(left) - turnOf(right));
  }
}
