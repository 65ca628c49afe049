import { inspect } from 'node:util';

/**
 * A value that cannot be printed by accident: logs, errors, JSON and `util.inspect` show
 * `[redacted]`. `reveal()` is the only way in, and easy to search for.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }

  [inspect.custom](): string {
    return '[redacted]';
  }
}
