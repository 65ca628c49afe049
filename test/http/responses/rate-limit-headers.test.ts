import { expect, test } from 'vitest';
import { rateLimitHeaders } from '#http/responses/headers.ts';

test('a limit is shown as a policy of one minute and as what is left of it', () => {
  expect(rateLimitHeaders({ limitPerMinute: 600, remaining: 0, resetSeconds: 59 })).toEqual({
    'ratelimit-policy': '"default";q=600;w=60',
    ratelimit: '"default";r=0;t=59',
  });
});
