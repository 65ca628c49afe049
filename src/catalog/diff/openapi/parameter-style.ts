import { isRecord } from '#shared/text/json.ts';
import { type Document, type Entry, entryOf } from './comparison.ts';
import type { Part } from './part.ts';
import { shapeOf } from './schema-shape.ts';

const FORM = new Set<unknown>(['query', 'cookie', 'formData']);
/** The formats of Swagger 2.0: the style that is written alike, and whether lists are in several parts. */
const STYLES = new Map<unknown, [style: string | undefined, explode: boolean]>([
  ['csv', [undefined, false]],
  ['multi', ['form', true]],
  ['ssv', ['spaceDelimited', false]],
  ['tsv', ['tabDelimited', false]],
  ['pipes', ['pipeDelimited', false]],
]);

const REPEATED = JSON.stringify(STYLES.get('multi'));

/** The form in which a parameter is written. */
export function styleOf(document: Document, entry: Entry): Part['style'] {
  const { in: place, ...written }: Record<string, unknown> = isRecord(entry.value)
    ? entry.value
    : {};
  const usual = FORM.has(place) ? 'form' : 'simple';
  const { style = usual, explode = style === 'form', allowReserved = false } = written;
  const { collectionFormat = 'csv', content } = written;
  const isOld = Object.hasOwn(document.root, 'swagger');
  const [form = usual, isApart] = STYLES.get(collectionFormat) ?? [];
  const ofLists = JSON.stringify(isOld ? [form, isApart] : [style, explode]);
  const schema = entryOf(entry, 'schema');
  return {
    of: JSON.stringify([
      place === 'path' && style !== usual ? style : '',
      content === undefined,
      allowReserved,
    ]),
    ofLists,
    isRepeated: ofLists === REPEATED,
    canBeList: () => {
      const { types } = shapeOf(document, schema.value === undefined ? entry : schema);
      return !types || types.has('array') || types.has('object');
    },
  };
}
