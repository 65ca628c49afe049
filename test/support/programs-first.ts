import { BaseSequencer, type TestSpecification } from 'vitest/node';

const PROJECTS = ['programs', 'together', 'apart'];

/**
 * The end of a run takes as long as its last file alone: whole programs take longest. Files of a project follow each
 * other, for a process serves one project.
 */
export class ProgramsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turnOf = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name);
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => turnOf(left) - turnOf(right));
  }
}
