/** Ways in which a value is written: its schemas by media type, and the style of a parameter. */
import { isRecord } from '#shared/text/json.ts';
import {
  type At,
  type Document,
  type Entry,
  entryOf,
  membersOf,
  type Part,
  PROMISED,
  type Way,
} from './comparison.ts';
import { shapeOf } from './schema-shape.ts';

/** The schemas of a `content` by media type, else the one schema that stands there, or is the value itself. */
export function contentOf(way: Way, owner: Entry, types: readonly string[]): Part[] {
  const { direction } = way;
  const content = membersOf(entryOf(owner, 'content'));
  const whole = entryOf(owner, 'schema');
  const partOf = (written: string, at: At, schema: Entry): Part => {
    const [key, type] = mediaTypeOf(written);
    const also = [type, `${type.split('/')[0]}/*`, '*/*'];
    return { ...PROMISED, way, direction, label: `media type ${key}`, key, also, at, schema };
  };
  if (content.length === 0)
    return types.map((type) => partOf(type, owner.at, whole.value === undefined ? owner : whole));
  return content.flatMap(([type, media]) => {
    const part = partOf(type, media.at, bytesOr(type, entryOf(media, 'schema')));
    const items = entryOf(media, 'itemSchema');
    const ofItems = {
      ...part,
      label: `items of ${part.label}`,
      key: `items ${part.key}`,
      also: [],
    };
    const plain = { ...part, way: { direction } };
    return items.value === undefined
      ? [plain]
      : [
          plain,
          {
            ...ofItems,
            removed: direction === 'response' ? ('breaking' as const) : undefined,
            way: { direction },
            schema: items,
          },
        ];
  });
}

/** With its parameters, and without. That of the usual characters says nothing. */
function mediaTypeOf(written: string): [key: string, type: string] {
  const [type = '', ...parameters] = written
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const others = parameters
    .map((one) => one.replaceAll(/["\s]/g, ''))
    .filter((one) => one !== '' && one !== 'charset=utf-8');
  return [[type, ...others.toSorted()].join(';'), type];
}

const BYTES =
  /^(?:application\/octet-stream|image\/|audio\/|video\/|application\/(?:pdf|zip|gzip))/i;

/** Since 3.1 nothing is said of bytes, which were a text in a format before. */
function bytesOr(type: string, schema: Entry): Entry {
  const isOpen =
    schema.value === undefined ||
    (isRecord(schema.value) && Object.keys(schema.value).length === 0);
  if (!isOpen || !BYTES.test(type)) return schema;
  return { value: { type: 'string', format: 'binary' }, at: schema.at };
}

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
