import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { continuationOf } from '#adapters/github/transport/response.ts';

const next =
  '<https://api.github.com/repositories/1/issues?per_page=100&after=Y3Vyc29yOg%3D%3D&page=2>';
const prev = '<https://api.github.com/repositories/1/issues?before=Y3V&page=1>';

describe('the Link header', () => {
  test.each([
    ['only next', `${next}; rel="next"`],
    ['next before prev', `${next}; rel="next", ${prev}; rel="prev"`],
    ['prev before next', `${prev}; rel="prev", ${next}; rel="next"`],
    ['no spaces', `${prev};rel="prev",${next};rel="next"`],
    ['many spaces', `  ${prev} ;  rel = "prev"  ,   ${next}  ;  rel  =  "next"  `],
    ['without quotes', `${next}; rel=next`],
    ['several relations and parameters', `${next}; title="a; b"; rel="last NEXT"`],
    ['a relative target', '</issues?after=Y3Vyc29yOg%3D%3D>; rel="next"'],
    ['a comma inside a target', `<https://x/?a=1,2>; rel="prev", ${next}; rel="next"`],
  ])('names the cursor: %s', (_, header) => {
    expect(continuationOf(header)).toEqual({ kind: 'next', after: 'Y3Vyc29yOg==' });
  });

  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['only prev', `${prev}; rel="prev"`],
    ['a relation that only looks like it', `${next}; rel="nextish"`],
    ['broken', '<<>>;;, rel="next"'],
  ])('is the end of the list when it is %s', (_, header) => {
    expect(continuationOf(header)).toEqual({ kind: 'end' });
  });

  test('is unusable when the next page has no cursor', () => {
    const header = '<https://api.github.com/repositories/1/issues?page=2>; rel="next"';
    expect(continuationOf(header)).toEqual({ kind: 'unusable' });
  });

  test('gives back any cursor as it was, wherever it stands', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.boolean(), (cursor, isReversed) => {
        const target = `<https://h/i?labels=a%2Cb&after=${encodeURIComponent(cursor)}&page=9>; rel="next"`;
        const links = isReversed
          ? [`${prev}; rel="prev"`, target]
          : [target, `${prev}; rel="prev"`];
        expect(continuationOf(links.join(', '))).toEqual({ kind: 'next', after: cursor });
      }),
    );
  });
});
