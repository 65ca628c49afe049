import {
  asks,
  gives,
  type Json,
  number,
  object,
  ref,
  type SchemaRow,
  text,
  whole,
} from './documents.ts';

/** A fourth list: what is one of several things, null among them. */
const [nothing, flag] = [{ type: 'null' }, { type: 'boolean' }];
const pets = {
  Null: nothing,
  Pet: object({ p: text }),
  Animal: object({ p: text }),
  Cat: object({ c: text }, { required: ['c'] }),
  Dog: object({ d: text }, { required: ['d'] }),
};
const [cat, dog] = [ref('Cat'), ref('Dog')];
const of =
  (make: typeof asks, openapi = '3.1.0') =>
  (schema: Json): Json => ({ ...make(schema, { schemas: pets }), openapi });
const [sent, got, gotOld] = [of(asks), of(gives), of(gives, '3.0.3')];
const open = [object({ a: text }), object({ b: text })];
const several = { type: ['string', 'integer', 'null'] };

const breakingRows: SchemaRow[] = [
  [
    'null',
    'is none of several any more',
    sent,
    { anyOf: [text, number, nothing] },
    { anyOf: [text, number] },
  ],
  ['null', 'can be one of several', got, { oneOf: [cat, dog] }, { oneOf: [cat, dog, nothing] }],
  [
    'null',
    'takes the place of nothing',
    sent,
    { anyOf: [text, number, nothing] },
    { anyOf: [text, number, flag] },
  ],
  [
    'null',
    'of several within one',
    sent,
    { anyOf: [{ anyOf: [text, number] }, nothing] },
    { anyOf: [text, number] },
  ],
  [
    'null',
    'as of old, beside several',
    gotOld,
    { oneOf: [cat, dog] },
    { oneOf: [cat, dog], nullable: true },
  ],
  ['null', 'alone', got, { anyOf: [nothing] }, { anyOf: [text, nothing] }],
  ['null', 'among values', got, { enum: ['a'] }, { enum: ['a', null] }],
  ['null', 'is none of the values any more', sent, { enum: ['a', null] }, { enum: ['a'] }],
  [
    'null',
    'has its type, and is listed',
    got,
    { ...several, enum: ['a'] },
    { ...several, enum: ['a', null] },
  ],
  [
    'null',
    'that was listed has its type from now on',
    got,
    { ...text, enum: ['a', null] },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    'null',
    'that was listed has its type from now on, as of old',
    gotOld,
    { ...text, enum: ['a', null] },
    { ...text, enum: ['a', null], nullable: true },
  ],
  [
    'null',
    'is listed without its type',
    sent,
    { type: ['string', 'null'], enum: ['a', null] },
    { ...text, enum: ['a', null] },
  ],
  [
    'parts',
    'of a further alternative',
    got,
    { anyOf: [text, { type: 'array', items: text }] },
    { anyOf: [text, { type: 'array', items: number }] },
  ],
  [
    'types',
    'beside alternatives',
    sent,
    { anyOf: [text, number] },
    { anyOf: [text, number], type: 'string' },
  ],
  [
    'variants',
    'one of two within one',
    sent,
    { anyOf: [{ anyOf: [text, number] }, flag] },
    { anyOf: [text, flag] },
  ],
  [
    'variants',
    'one value of two has none',
    sent,
    { enum: ['a', 'b'] },
    { oneOf: [{ const: 'a' }, number] },
  ],
  [
    'null',
    'that the type beside it keeps out',
    sent,
    { anyOf: [text, nothing] },
    { anyOf: [text, nothing], type: 'string' },
  ],
  [
    'overlaps',
    'one more that others fit, too',
    sent,
    { oneOf: open },
    { oneOf: [...open, object({ c: text })] },
  ],
  ['overlaps', 'any of them had to fit', sent, { anyOf: open }, { oneOf: open }],
];

const harmlessRows: SchemaRow[] = [
  ['null', 'and one more', sent, { anyOf: [text, nothing] }, { anyOf: [text, number, nothing] }],
  ['null', 'and one less', got, { oneOf: [cat, dog, nothing] }, { oneOf: [cat, nothing] }],
  [
    'null',
    'in another place',
    got,
    { anyOf: [text, number, nothing] },
    { anyOf: [nothing, number, text] },
  ],
  ['null', 'does not come any more', got, { enum: ['a', null] }, { enum: ['a'] }],
  [
    'types',
    'that the alternatives have anyway',
    sent,
    { oneOf: [cat, dog] },
    { oneOf: [cat, dog], type: 'object' },
  ],
  ['types', 'become alternatives', sent, several, { anyOf: [text, number, nothing] }],
  ['types', 'in place of alternatives', got, { anyOf: [text, number, nothing] }, several],
  [
    'variants',
    'of one in a line with the others',
    sent,
    { anyOf: [{ anyOf: [text, number] }, flag] },
    { anyOf: [text, number, flag] },
  ],
  [
    'variants',
    'of several types',
    sent,
    { anyOf: [{ type: ['string', 'null'] }, number] },
    { anyOf: [text, number, nothing] },
  ],
  [
    'values',
    'become alternatives',
    sent,
    { enum: ['a', 'b', null] },
    { oneOf: [{ const: 'a' }, { enum: ['b', 'c'] }, nothing] },
  ],
  [
    'null',
    'in other words',
    sent,
    { oneOf: [{ const: null }, cat, dog] },
    { oneOf: [{ type: ['null'] }, cat, dog] },
  ],
  [
    'null',
    'as a list of values',
    got,
    { oneOf: [{ enum: [null] }, { enum: ['a'] }] },
    { enum: ['a', null] },
  ],
  [
    'null',
    'behind a reference',
    sent,
    { oneOf: [ref('Null'), { enum: ['a'] }] },
    { oneOf: [nothing, { enum: ['a'] }] },
  ],
  [
    'null',
    'is no text that is too long',
    sent,
    { anyOf: [{ ...text, maxLength: 5 }, number, nothing] },
    { anyOf: [{ type: ['string', 'null'], maxLength: 5 }, number] },
  ],
  [
    'overlaps',
    'an alternative is described',
    sent,
    { oneOf: open },
    { oneOf: [object({ a: text }, { description: 'a' }), open[1]] },
  ],
  [
    'overlaps',
    'an alternative has one more property',
    sent,
    { oneOf: open },
    { oneOf: [object({ a: text, c: text }), open[1]] },
  ],
  [
    'overlaps',
    'in another order, in other words',
    sent,
    { oneOf: [object({}), object({ a: text })] },
    { oneOf: [object({ a: text }, { description: 'a' }), object({})] },
  ],
  [
    'overlaps',
    'an alternative has another name',
    sent,
    { oneOf: [ref('Pet'), cat] },
    { oneOf: [ref('Animal'), cat] },
  ],
  [
    'limits',
    'of another type',
    sent,
    number,
    { ...number, maxLength: 5, pattern: 'a', required: ['a'], minItems: 1 },
  ],
  [
    'forms',
    'a condition is described, in another order',
    sent,
    { if: { required: ['a'], maxProperties: 2 }, else: text },
    { if: { description: 'a', maxProperties: 2, required: ['a'] }, else: text },
  ],
  [
    'forms',
    'something excluded has a title',
    sent,
    { ...number, not: { const: 1 } },
    { ...number, not: { title: 'One', const: 1 } },
  ],
];

export const variants = { breaking: breakingRows.map(whole), harmless: harmlessRows.map(whole) };
