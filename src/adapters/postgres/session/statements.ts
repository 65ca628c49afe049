const COLUMNS =
  'digest, issuer_subject, issuer_session, time_zone, started_at, used_at, ends_at, renew_at, sealed';

export const INSERT = `
  INSERT INTO session (${COLUMNS})
  VALUES (@digest, @issuerSubject, @issuerSession, @timeZone, @startedAt, @usedAt, @endsAt,
    @renewAt, @sealed)`;

export const FIND = `SELECT ${COLUMNS} FROM session WHERE digest = @digest`;

export const TOUCH =
  'UPDATE session SET used_at = @usedAt WHERE digest = @digest AND used_at < @usedAt';

export const SET_TIME_ZONE = 'UPDATE session SET time_zone = @timeZone WHERE digest = @digest';

export const CLAIM_RENEWAL = `
  UPDATE session SET renewing_until = @until
  WHERE digest = @digest AND renew_at <= @now AND (renewing_until IS NULL OR renewing_until <= @now)`;

export const RENEW = `
  UPDATE session SET sealed = @sealed, renew_at = @renewAt, renewing_until = NULL
  WHERE digest = @digest`;

export const END = 'DELETE FROM session WHERE digest = @digest';

/** No row for a token that is known. */
export const END_OF_ISSUER = `
  WITH first AS (
    INSERT INTO logout_token (digest, ends_at) VALUES (@digest, @endsAt)
    ON CONFLICT (digest) DO NOTHING RETURNING 1
  ), ended AS (
    DELETE FROM session
    WHERE EXISTS (SELECT 1 FROM first)
      AND (@issuerSubject::text IS NOT NULL OR @issuerSession::text IS NOT NULL)
      AND (@issuerSubject::text IS NULL OR issuer_subject = @issuerSubject)
      AND (@issuerSession::text IS NULL OR issuer_session = @issuerSession)
      AND started_at <= @startedUntil RETURNING 1
  ) SELECT (SELECT count(*)::int FROM ended) AS ended FROM first`;

/** The session may have ended meanwhile: then nobody will see it. */
export const PUT_ONCE = `
  INSERT INTO session_once (digest, session, ends_at, sealed)
  SELECT @digest, digest, @endsAt, @sealed FROM session WHERE digest = @session FOR KEY SHARE`;

export const TAKE_ONCE = `
  DELETE FROM session_once
  WHERE digest = @digest AND session = @session AND ends_at > @now RETURNING sealed`;

export const READ_ONCE = `
  SELECT sealed FROM session_once
  WHERE digest = @digest AND session = @session AND ends_at > @now`;

export const PURGE = 'DELETE FROM session WHERE ends_at <= @now OR used_at <= @unusedSince';

export const PURGE_ONCE = 'DELETE FROM session_once WHERE ends_at <= @now';

export const PURGE_LOGOUTS = 'DELETE FROM logout_token WHERE ends_at <= @now';
