import type { Answer } from './answer.ts';
import { jsonAnswer } from './answer.ts';
import type { Caller } from './caller.ts';
import type { World } from './model.ts';

export function graphqlLimitAnswer(): Answer {
  return jsonAnswer({ errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] });
}

export function answerGraphql(
  _world: World,
  _caller: Caller,
  _body: Record<string, unknown>,
): Answer {
  return jsonAnswer({ errors: [] });
}
