import type { FieldValue, IssueField, IssueRecord, World } from './model.ts';
import { nextId } from './world.ts';

/** Further attributes of an issue: its type, its status, values of the organization's fields. */
export type AttributePatch = {
  /** Name of the type; null takes it off. */
  type?: string | null;
  /** `category`: `backlog`, `planned`, `started`, `completed`, `not_planned`, `duplicate`, or what may come. */
  status?: { name: string; category: string } | null;
  /** By name; null clears. Several options are an array, one is `{ option }`. */
  fields?: Readonly<Record<string, FieldInput>>;
};

export type FieldInput = string | number | readonly string[] | { option: string } | null;
type Attributes = Pick<IssueRecord, 'type' | 'status' | 'fieldValues'>;

const NO_ATTRIBUTES: Attributes = { type: null, status: null, fieldValues: [] };

/** The attributes after a patch; what it leaves alone is the same object. */
export function attributesAfter(
  world: World,
  patch: AttributePatch,
  old: Attributes = NO_ATTRIBUTES,
): Attributes {
  return {
    type: named(world, 'type', patch.type, old.type),
    status: statusAfter(world, patch.status, old.status),
    fieldValues: Object.entries(patch.fields ?? {}).reduce(
      (values, [name, input]) => fieldValuesAfter(world, values, { name, input }),
      old.fieldValues,
    ),
  };
}

function named(
  world: World,
  kind: string,
  name: string | null | undefined,
  old: IssueRecord['type'],
) {
  if (name === undefined || name === old?.name) return old;
  return name === null ? null : { id: idOf(world, `${kind} ${name}`), name };
}

function statusAfter(
  world: World,
  status: AttributePatch['status'],
  old: IssueRecord['status'],
): IssueRecord['status'] {
  if (status === undefined || (status && old?.name === status.name)) return old;
  const next = named(world, 'status', status?.name ?? null, old);
  return next && status && { ...next, category: status.category };
}

function fieldValuesAfter(
  world: World,
  values: readonly FieldValue[],
  { name, input }: { name: string; input: FieldInput },
): readonly FieldValue[] {
  const at = values.findIndex(({ field }) => field.name === name);
  const known = values[at];
  if (input === null) return known ? values.toSpliced(at, 1) : values;
  const field = known?.field ?? fieldFor(world, name, input);
  const value = typeof input === 'object' && 'option' in input ? input.option : input;
  if (known && JSON.stringify(known.value) === JSON.stringify(value)) return values;
  const next: FieldValue = { id: known?.id ?? nextId(world), field, value };
  return known ? values.with(at, next) : [...values, next];
}

/** A field is made by its first value, where it was not before. */
function fieldFor(world: World, name: string, input: Exclude<FieldInput, null>): IssueField {
  return (
    world.fields.get(name) ??
    createField(world, { name, dataType: dataTypeOf(input), options: optionsOf(input) })
  );
}

/** Gives the organization a field; one of that name has these options from now on. */
export function createField(
  world: World,
  { name, dataType, options = [] }: Omit<IssueField, 'id' | 'options'> & Partial<IssueField>,
): IssueField {
  const id = world.fields.get(name)?.id ?? nextId(world);
  const field = { id, name, dataType, options };
  world.fields.set(name, field);
  return field;
}

function optionsOf(input: Exclude<FieldInput, null>): readonly string[] {
  if (typeof input !== 'object') return [];
  return 'option' in input ? [input.option] : input;
}

function dataTypeOf(input: Exclude<FieldInput, null>): IssueField['dataType'] {
  if (typeof input === 'number') return 'number';
  if (typeof input === 'string') return /^\d{4}-\d\d-\d\d$/.test(input) ? 'date' : 'text';
  return 'option' in input ? 'single_select' : 'multi_select';
}

/** The id of a type, a status or an option, the same at each call. */
export function idOf(world: World, name: string): number {
  const id = world.ids.get(name) ?? nextId(world);
  world.ids.set(name, id);
  return id;
}
