CREATE TRIGGER catalog_text_changed AFTER UPDATE OF terms ON catalog_version
WHEN OLD.terms <> NEW.terms BEGIN
  DELETE FROM catalog_version_text WHERE rowid = OLD.serial;
  INSERT INTO catalog_version_text (rowid, terms) VALUES (NEW.serial, NEW.terms);
END;

CREATE TRIGGER catalog_text_given AFTER INSERT ON catalog_version WHEN NEW.terms <> '' BEGIN
  INSERT INTO catalog_version_text (rowid, terms) VALUES (NEW.serial, NEW.terms);
  INSERT INTO catalog_artifact_text (rowid, terms)
  SELECT NEW.artifact_serial, NEW.terms WHERE NEW.is_listed = 1;
END;

CREATE TRIGGER catalog_text_of_none AFTER DELETE ON catalog_artifact BEGIN
  DELETE FROM catalog_artifact_text WHERE rowid = OLD.serial;
END;

CREATE TRIGGER catalog_text_represented AFTER UPDATE OF terms, is_listed ON catalog_version
WHEN NEW.is_listed = 1 AND (OLD.is_listed = 0 OR OLD.terms <> NEW.terms) BEGIN
  DELETE FROM catalog_artifact_text WHERE rowid = NEW.artifact_serial;
  INSERT INTO catalog_artifact_text (rowid, terms) VALUES (NEW.artifact_serial, NEW.terms);
END;

CREATE TRIGGER catalog_text_taken AFTER DELETE ON catalog_version BEGIN
  DELETE FROM catalog_version_text WHERE rowid = OLD.serial;
END;

CREATE TRIGGER claim_changed AFTER UPDATE OF repository_id, number, released_at ON claim BEGIN
  UPDATE claim_version SET version = version + 1, withdrawn = withdrawn + 1;
END;

CREATE TRIGGER claim_dropped AFTER DELETE ON claim BEGIN
  UPDATE claim_version SET version = version + 1, withdrawn = withdrawn + 1;
END;

CREATE TRIGGER claim_made AFTER INSERT ON claim BEGIN
  UPDATE claim_version SET version = version + 1;
END;

CREATE TRIGGER event_leads_changed AFTER UPDATE OF lead_ids ON event
WHEN OLD.lead_ids IS NOT NEW.lead_ids BEGIN
  DELETE FROM event_lead WHERE receipt = OLD.receipt AND event = OLD.id
    AND number IN (SELECT CAST(value AS INTEGER) FROM json_each(coalesce(OLD.lead_ids, '[]')));
  INSERT OR IGNORE INTO event_lead (number, receipt, event)
  SELECT CAST(value AS INTEGER), NEW.receipt, NEW.id FROM json_each(coalesce(NEW.lead_ids, '[]'));
END;

CREATE TRIGGER event_leads_given AFTER INSERT ON event WHEN NEW.lead_ids IS NOT NULL BEGIN
  INSERT OR IGNORE INTO event_lead (number, receipt, event)
  SELECT CAST(value AS INTEGER), NEW.receipt, NEW.id FROM json_each(NEW.lead_ids);
END;

CREATE TABLE access_version (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL
) STRICT;

CREATE TABLE api_key (
  serial INTEGER PRIMARY KEY, -- ascending with creation
  key_id TEXT NOT NULL UNIQUE,
  consumer_id TEXT NOT NULL REFERENCES consumer (id),
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32), -- of the whole key, which is stored nowhere
  last4 TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  replaced_by TEXT REFERENCES api_key (key_id) DEFERRABLE INITIALLY DEFERRED,
  last_used_at INTEGER
) STRICT;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('cli', 'token', 'system')),
  actor_subject TEXT NOT NULL,
  actor_client_id TEXT,
  action TEXT NOT NULL, -- noun.verb
  subject TEXT NOT NULL, -- noun/id
  changes TEXT CHECK (json_valid(changes)), -- object: names and new values
  request_id TEXT
) STRICT;

CREATE TABLE catalog_artifact (
  serial INTEGER PRIMARY KEY AUTOINCREMENT, -- ascending with creation: the order of lists
  workspace_id TEXT NOT NULL,
  id_folded TEXT NOT NULL,
  id TEXT NOT NULL, -- as its first version spelled it
  default_serial INTEGER, -- the version set as default
  listed_serial INTEGER, -- the version that stands for the artifact; its default when it has one
  versions INTEGER NOT NULL DEFAULT 0,
  UNIQUE (workspace_id, id_folded)
) STRICT;

CREATE VIRTUAL TABLE catalog_artifact_text USING fts5 (
  terms, content = '', contentless_delete = 1, detail = none,
  prefix = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20', tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TABLE 'catalog_artifact_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'catalog_artifact_text_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'catalog_artifact_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER);

CREATE TABLE 'catalog_artifact_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE catalog_spec (
  version_serial INTEGER PRIMARY KEY REFERENCES catalog_version (serial) ON DELETE CASCADE,
  text TEXT NOT NULL -- one JSON text
) STRICT;

CREATE TABLE catalog_usage (
  version_serial INTEGER NOT NULL REFERENCES catalog_version (serial) ON DELETE CASCADE,
  reader_kind TEXT NOT NULL CHECK (reader_kind IN ('consumer', 'client')),
  reader_id TEXT NOT NULL,
  day INTEGER NOT NULL, -- days since the Unix epoch
  reads INTEGER NOT NULL,
  last_read_at INTEGER NOT NULL,
  PRIMARY KEY (version_serial, reader_kind, reader_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE catalog_version (
  serial INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice
  artifact_serial INTEGER NOT NULL REFERENCES catalog_artifact (serial),
  workspace_id TEXT NOT NULL,
  version TEXT NOT NULL,
  order_key TEXT NOT NULL, -- byte order is the order of versions
  is_listed INTEGER NOT NULL DEFAULT 0 CHECK (is_listed IN (0, 1)),
  revision INTEGER NOT NULL,
  lifecycle TEXT NOT NULL CHECK (lifecycle IN ('DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED')),
  type TEXT NOT NULL,
  source TEXT NOT NULL,
  owner TEXT NOT NULL,
  title TEXT NOT NULL,
  project_id TEXT,
  group_path TEXT,
  group_key TEXT GENERATED ALWAYS AS (group_path || '/') VIRTUAL, -- a range of it is a group
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  published_at INTEGER,
  deprecated_at INTEGER,
  sunset_at INTEGER,
  members TEXT, -- JSON array of ids; NULL when the owner gave no list
  counts TEXT, -- JSON object
  findings TEXT, -- JSON array; NULL when there are none
  description TEXT,
  terms TEXT NOT NULL DEFAULT '', -- cut by src/catalog/reading/search-terms.ts
  UNIQUE (artifact_serial, version)
) STRICT;

CREATE VIRTUAL TABLE catalog_version_text USING fts5 (
  terms, content = '', contentless_delete = 1, detail = none,
  prefix = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20', tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TABLE 'catalog_version_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'catalog_version_text_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'catalog_version_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER);

CREATE TABLE 'catalog_version_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE certificate_key (
  kid TEXT PRIMARY KEY, -- thumbprint of the key (RFC 7638)
  x TEXT NOT NULL, -- of Ed25519, base64url (RFC 8037)
  first_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE claim (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL, -- 0: the store does not know the repository yet
  number INTEGER NOT NULL,
  receipt_id TEXT NOT NULL,
  event INTEGER NOT NULL, -- event.id
  claimed_at INTEGER NOT NULL,
  released_at INTEGER, -- an operator gave the lead back
  is_provisional INTEGER NOT NULL DEFAULT 0 CHECK (is_provisional IN (0, 1)), -- until a match is certain
  UNIQUE (repository_id, number, event)
) STRICT;

CREATE TABLE claim_version (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  version INTEGER NOT NULL,
  withdrawn INTEGER NOT NULL -- how often a claim was taken back
) STRICT;

CREATE TABLE consumer (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'disabled', 'revoked')),
  limit_per_minute INTEGER CHECK (limit_per_minute > 0), -- NULL means the default
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE consumer_grant (
  consumer_id TEXT NOT NULL REFERENCES consumer (id),
  action TEXT NOT NULL,
  labels TEXT CHECK (json_valid(labels)), -- array of label names; NULL means every lead
  workspace TEXT, -- whose catalog the consumer reads
  PRIMARY KEY (consumer_id, action)
) STRICT, WITHOUT ROWID;

CREATE TABLE deletion_name (
  event INTEGER NOT NULL REFERENCES event (id),
  place INTEGER NOT NULL, -- names are looked for in this order
  repository_id INTEGER NOT NULL, -- 0: not known yet
  kind TEXT NOT NULL, -- 'lead-id', or as directory_key has it
  key_hash BLOB, -- as directory_key has it; NULL for a lead id
  number INTEGER, -- the lead id
  crawl INTEGER NOT NULL, -- that ran, or was the last one, when the deletion came
  came_at INTEGER NOT NULL,
  PRIMARY KEY (event, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE directory_key (
  key_hash BLOB NOT NULL,
  repository_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL, -- 'email', 'weak-email', 'correlation-id' or 'external-id/<partnerId>'
  rule INTEGER NOT NULL, -- by which version of the rules it was read last
  PRIMARY KEY (key_hash, repository_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE directory_lead (
  repository_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  created_at INTEGER NOT NULL DEFAULT 0, -- by the tracker; 0: not known
  updated_at INTEGER NOT NULL,
  approved INTEGER NOT NULL CHECK (approved IN (0, 1)),
  labels TEXT NOT NULL, -- JSON array of names in lower case
  crawl INTEGER NOT NULL, -- the last crawl in which it was seen
  is_moved INTEGER NOT NULL DEFAULT 0 CHECK (is_moved IN (0, 1)), -- it is in another repository: a tombstone
  PRIMARY KEY (repository_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE directory_merge (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- the oldest go first
  from_hash BLOB NOT NULL, -- as directory_key has it: of an external id, with its partner
  to_hash BLOB NOT NULL, -- whoever is known by the other is known by this, too
  UNIQUE (to_hash, from_hash)
) STRICT;

CREATE TABLE directory_state (
  repository_id INTEGER PRIMARY KEY,
  rules_check BLOB NOT NULL, -- tells whether bodies were read by today's form
  crawl INTEGER NOT NULL, -- number of the crawl that runs, or of the last one
  crawling INTEGER NOT NULL CHECK (crawling IN (0, 1)),
  crawl_started_at INTEGER NOT NULL,
  crawl_issues INTEGER NOT NULL, -- seen so far
  crawl_reached INTEGER NOT NULL, -- greatest updated_at that the crawl has kept; it resumes there
  completed_at INTEGER, -- end of the last complete crawl; NULL: there was none yet
  caught_up_to INTEGER NOT NULL -- greatest updated_at that a crawl or a catch-up has kept
) STRICT;

CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  receipt INTEGER NOT NULL REFERENCES receipt (number),
  position INTEGER NOT NULL, -- in the delivery, from 0; repeats leave gaps
  event_type TEXT, -- as it was sent
  event_id TEXT,
  external_id TEXT,
  outcome TEXT NOT NULL
    CHECK (outcome IN ('PENDING', 'DONE', 'UNMATCHED', 'IGNORED', 'REJECTED', 'FAILED')),
  erasure TEXT CHECK (erasure IN ('complete', 'incomplete-history', 'impossible')),
  remains TEXT, -- JSON array: what of a person is left on the issues, as the worker saw them; NULL: nothing is known to be
  note TEXT, -- a code: what a reader of the receipt should know besides the outcome
  lead_ids TEXT, -- JSON array of issue numbers as text
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT, -- a code, never a message
  completed_at INTEGER,
  payload BLOB, -- the event's bytes, AES-256-GCM; NULL once dropped
  digest BLOB, -- SHA-256 of its bytes in the first body, AES-256-GCM, for it could be guessed; NULL after 30 days
  -- Work, of use only while PENDING.
  due_at INTEGER,
  lease_token TEXT, -- fencing: only its holder may settle or reschedule
  lease_until INTEGER,
  progress TEXT, -- JSON, the worker's own: what is matched and done so far
  stage TEXT NOT NULL GENERATED ALWAYS AS
    (CASE WHEN progress ->> '$.stage' = 'act' THEN 'act' ELSE 'match' END) VIRTUAL,
  is_deletion INTEGER NOT NULL, -- by the path that it came on
  rank INTEGER NOT NULL GENERATED ALWAYS AS -- whose turn it is: deletions that redact or delete, other ones, events
    (CASE WHEN is_deletion = 0 THEN 2
      WHEN progress ->> '$.actions' LIKE '%"redact"%' OR progress ->> '$.actions' LIKE '%"delete"%' THEN 0
      ELSE 1 END) VIRTUAL,
  again INTEGER NOT NULL DEFAULT 0, -- when it came once more while it was worked, then it is worked again; 0: it did not
  history TEXT NOT NULL DEFAULT '[]', -- JSON: steps, oldest first, at most 50
  names TEXT, -- kinds, never values, with a space between; NULL: none, or not known
  actions TEXT, -- of a deletion: JSON array, what is done to a lead that is learnt later
  created_before INTEGER, -- by the tracker's clock: what was created later is not what the event means
  asked_at INTEGER, -- when it was delivered, or replayed, or sent again after its end
  acknowledged_at INTEGER, -- an operator has seen that it came to nothing
  UNIQUE (receipt, position),
  CHECK ((outcome = 'PENDING') = (due_at IS NOT NULL)),
  CHECK ((outcome = 'PENDING') = (completed_at IS NULL))
) STRICT;

CREATE TABLE event_comment (
  event INTEGER NOT NULL REFERENCES event (id),
  number INTEGER NOT NULL, -- of the issue
  tried_at INTEGER NOT NULL, -- stored before the comment is sent
  is_written INTEGER NOT NULL DEFAULT 0 CHECK (is_written IN (0, 1)), -- 0: nobody heard what became of it
  PRIMARY KEY (event, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_lead (
  number INTEGER NOT NULL,
  receipt INTEGER NOT NULL,
  event INTEGER NOT NULL,
  PRIMARY KEY (number, receipt, event)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_key (
  digest BLOB PRIMARY KEY, -- of workspace, principal, route and key
  workspace_id TEXT NOT NULL,
  fingerprint BLOB NOT NULL, -- of the request
  started_at INTEGER NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL, -- JSON object
  body TEXT NOT NULL,
  bytes INTEGER NOT NULL -- of headers and body
) STRICT;

CREATE TABLE lead_change (
  repository_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  position INTEGER NOT NULL, -- when it changed last for anybody, in ms since the Unix epoch; later changes have greater ones
  changed_at INTEGER NOT NULL, -- the position at which it changed last for those who can read it
  is_visible INTEGER NOT NULL, -- 1: approved, here, and not claimed
  updated_at INTEGER NOT NULL, -- by the tracker
  labels TEXT NOT NULL, -- JSON array of names in lower case
  look BLOB, -- keyed digest of what readers were told last
  carried TEXT NOT NULL, -- by which labels it could be read, from which position until which; '' for all readers
  PRIMARY KEY (repository_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE lead_feed_reader (
  consumer_id TEXT PRIMARY KEY,
  position INTEGER NOT NULL, -- how far it has read
  read_at INTEGER NOT NULL,
  granted TEXT, -- digest of the grant that its cursors hold for; NULL: it was given none yet, as far as is known
  given_at INTEGER -- when it was given one last
) STRICT, WITHOUT ROWID;

CREATE TABLE lead_feed_stretch (
  consumer_id TEXT NOT NULL,
  repository_id INTEGER NOT NULL,
  granted TEXT NOT NULL, -- as above: to another grant other leads are told
  up_to INTEGER NOT NULL, -- position; 'behind' and 'up_to' as those of lead_change
  behind INTEGER NOT NULL, -- 0: it began with a copy of everything
  read_at INTEGER NOT NULL,
  PRIMARY KEY (consumer_id, repository_id, granted, up_to)
) STRICT, WITHOUT ROWID;

CREATE TABLE migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('breaking', 'compatible')),
    applied_at bigint NOT NULL -- milliseconds since the Unix epoch
  );

CREATE TABLE partner_heard (
  partner_id TEXT PRIMARY KEY,
  heard_at INTEGER NOT NULL -- before the first delivery: since when the partner is configured
) STRICT, WITHOUT ROWID;

CREATE TABLE receipt (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE, -- a UUID
  partner_id TEXT NOT NULL,
  path TEXT NOT NULL CHECK (path IN ('events', 'deletions')),
  event_type TEXT NOT NULL,
  external_id TEXT,
  correlation_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ACCEPTED', 'PROCESSED', 'UNMATCHED', 'FAILED')),
  received_at INTEGER NOT NULL,
  traceparent TEXT, -- the call's span, for those of the worker; random numbers, NULL where traces are off
  repeats TEXT -- of a batch, what came before: array of { position, receiptId }; NULL: nothing
) STRICT;

CREATE TABLE same_event (
  id_key BLOB NOT NULL, -- of partner, path, account, type and event id; the event has no id: its key
  person_key BLOB NOT NULL, -- of all that names the person; the event has no id: empty
  key BLOB NOT NULL, -- of all that makes two events the same
  event INTEGER NOT NULL REFERENCES event (id),
  first_seen_at INTEGER NOT NULL,
  PRIMARY KEY (id_key, person_key, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE secret_key (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  fingerprint BLOB NOT NULL -- of a sub-key: nothing of the key can be told from it
) STRICT;

CREATE TABLE session (
  digest BLOB PRIMARY KEY,
  signed_in_at INTEGER NOT NULL, -- when the issuer said last who it is
  used_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session_once (
  digest BLOB PRIMARY KEY,
  session BLOB NOT NULL REFERENCES session (digest) ON DELETE CASCADE,
  ends_at INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE tracker_repository (
  name TEXT PRIMARY KEY, -- owner/name in lower case
  repository_id INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE traffic (
  sender TEXT NOT NULL, -- a partner's id, or @tracker
  kind TEXT NOT NULL CHECK (kind IN ('verified', 'refused')),
  detail TEXT NOT NULL, -- eight hexadecimal digits of the secret's SHA-256, or the reason
  day INTEGER NOT NULL, -- days since the Unix epoch
  count INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (sender, kind, detail, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE write_check (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  filler BLOB NOT NULL
) STRICT;

CREATE INDEX api_key_by_consumer ON api_key (consumer_id, created_at, serial);

CREATE INDEX audit_by_action ON audit (action, at);

CREATE INDEX audit_by_actor ON audit (actor_subject, at);

CREATE INDEX audit_by_actor_and_action ON audit (actor_subject, action, at);

CREATE INDEX audit_by_request ON audit (request_id, at, id) WHERE request_id IS NOT NULL;

CREATE INDEX audit_by_subject ON audit (subject, id);

CREATE INDEX audit_by_time ON audit (at);

CREATE INDEX catalog_usage_by_day ON catalog_usage (day);

CREATE INDEX catalog_usage_by_reader ON catalog_usage (reader_kind, reader_id, version_serial, day);

CREATE INDEX catalog_version_by_group
  ON catalog_version (workspace_id, group_key, is_listed, artifact_serial, lifecycle, type)
  WHERE group_path IS NOT NULL;

CREATE INDEX catalog_version_by_owner
  ON catalog_version (workspace_id, owner, is_listed, artifact_serial);

CREATE INDEX catalog_version_by_project
  ON catalog_version (workspace_id, project_id, is_listed, artifact_serial)
  WHERE project_id IS NOT NULL;

CREATE INDEX catalog_version_by_workspace
  ON catalog_version (workspace_id, serial, lifecycle, source, type);

CREATE INDEX catalog_version_listed
  ON catalog_version (workspace_id, artifact_serial, lifecycle, source, type) WHERE is_listed = 1;

CREATE INDEX claim_by_event ON claim (event, repository_id);

CREATE INDEX consumer_by_age ON consumer (created_at, id);

CREATE INDEX deletion_name_by_hash ON deletion_name (key_hash) WHERE key_hash IS NOT NULL;

CREATE INDEX deletion_name_by_number ON deletion_name (number) WHERE number IS NOT NULL;

CREATE INDEX directory_key_by_lead ON directory_key (repository_id, number);

CREATE INDEX directory_merge_from ON directory_merge (from_hash);

CREATE INDEX event_acknowledged ON event (outcome, receipt) WHERE acknowledged_at IS NOT NULL;

CREATE INDEX event_by_event_id ON event (event_id, receipt) WHERE event_id IS NOT NULL;

CREATE INDEX event_by_external_id ON event (external_id, receipt) WHERE external_id IS NOT NULL;

CREATE INDEX event_by_outcome ON event (outcome, receipt);

CREATE INDEX event_due ON event (stage, due_at, asked_at) WHERE outcome = 'PENDING';

CREATE INDEX event_turn ON event (stage, rank, due_at) WHERE outcome = 'PENDING';

CREATE INDEX event_with_digest ON event (receipt) WHERE digest IS NOT NULL;

CREATE INDEX event_with_payload ON event (completed_at) WHERE payload IS NOT NULL;

CREATE INDEX event_without_partner ON event (receipt)
  WHERE outcome = 'PENDING' AND last_error = 'partner-unknown';

CREATE INDEX idempotency_key_by_age ON idempotency_key (workspace_id, started_at, bytes);

CREATE INDEX lead_change_order ON lead_change (repository_id, position, number);

CREATE INDEX receipt_by_correlation ON receipt (correlation_id, number);

CREATE INDEX receipt_by_partner ON receipt (partner_id, number);

CREATE INDEX receipt_by_status ON receipt (status, number);

CREATE INDEX receipt_by_time ON receipt (received_at);

CREATE INDEX same_event_by_time ON same_event (first_seen_at);

CREATE INDEX session_once_by_session ON session_once (session);
