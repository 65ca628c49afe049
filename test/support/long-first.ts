import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Short files whose tests take longest. */
const LONG =
  /\/test\/(?:torture|browser)\/|\/e2e\/(?:sandbox|docs\/proxy|service\/store-copy)\.test/;

/** Where no run before tells how long files take, Vitest begins with the largest: what it then ends with takes a minute alone. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
