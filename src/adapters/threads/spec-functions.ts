/** Functions of the thread that compares specs and writes them as YAML. */
export { diffSpecs as diff } from '#catalog/diff/diff-specs.ts';
export { renderSpecYaml as yaml } from '#catalog/spec/spec-text.ts';
