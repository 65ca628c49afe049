/** Result of one check of `doctor`. `fix` says what to do about it. */
export type Finding = {
  /** The thing checked: `tracker`, `label approved`, `clock`. */
  subject: string;
  state: 'ok' | 'fixed' | 'warning' | 'failed';
  detail: string;
  fix?: string;
};

export function ok(subject: string, detail: string): Finding {
  return { subject, state: 'ok', detail };
}

export function warning(subject: string, detail: string, fix: string): Finding {
  return { subject, state: 'warning', detail, fix };
}

export function failed(subject: string, detail: string, fix: string): Finding {
  return { subject, state: 'failed', detail, fix };
}
