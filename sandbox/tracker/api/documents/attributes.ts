import { idOf } from '../../world/change-attributes.ts';
import type { FieldValue, IssueField, IssueRecord, IssueType, World } from '../../world/model.ts';
import { nodeId } from './node-id.ts';

/** Type, status and field values as the REST API and webhooks write them. */

type Document = Record<string, unknown>;

/** A status is in preview: issues without one have no such key. */
export function attributeDocuments(world: World, issue: IssueRecord): Document {
  const { type, status, fieldValues } = issue;
  return {
    type: type && issueTypeDocument(type),
    issue_field_values: fieldValues.map((value) => fieldValueDocument(world, value)),
    ...(status ? { status } : {}),
  };
}

export function issueTypeDocument({ id, name }: IssueType): Document {
  return {
    id,
    node_id: nodeId('IT', id),
    name,
    description: null,
    color: 'blue',
    is_enabled: true,
  };
}

export function fieldValueDocument(world: World, { id, field, value }: FieldValue): Document {
  const options = optionDocuments(world, { id, field, value });
  return {
    issue_field_id: field.id,
    issue_field_name: field.name,
    node_id: nodeId('IFV', id),
    data_type: field.dataType,
    value: Array.isArray(value) ? value.join(',') : value,
    ...(field.dataType === 'single_select' ? { single_select_option: options[0] } : {}),
    ...(field.dataType === 'multi_select' ? { multi_select_options: options } : {}),
  };
}

/** A field as the organization lists it. */
export function fieldDocument(world: World, { id, name, dataType, options }: IssueField): Document {
  const isSelect = dataType.endsWith('_select');
  return {
    id,
    node_id: nodeId('IF', id),
    name,
    description: null,
    data_type: dataType,
    visibility: 'all',
    ...(isSelect && { options: options.map((option) => optionDocument(world, id, option)) }),
  };
}

/** Part of `field_added` and `field_removed` beside the issue. */
export function changedFieldDocuments(world: World, fieldValue: FieldValue): Document {
  const { field } = fieldValue;
  return {
    issue_field: { id: field.id, name: field.name, field_type: field.dataType },
    issue_field_value: changedValueDocument(world, fieldValue),
  };
}

export function changedValueDocument(world: World, fieldValue: FieldValue): Document {
  const { id, field, value } = fieldValue;
  const options = optionDocuments(world, fieldValue);
  const ids = options.map((option) => option.id);
  const content = {
    text: { value },
    number: { value },
    date: { value },
    single_select: { value_id: ids[0], option: options[0] },
    multi_select: { value_ids: ids, options },
  }[field.dataType];
  return { id, ...content };
}

function optionDocuments(world: World, { field, value }: FieldValue) {
  const names = Array.isArray(value) ? (value as readonly string[]) : [String(value)];
  return names.map((name) => optionDocument(world, field.id, name));
}

function optionDocument(world: World, fieldId: number, name: string) {
  return { id: idOf(world, `option ${fieldId} ${name}`), name, color: 'gray' };
}
