-- compatible
-- The lead directory (who is behind which issue, as keyed hashes only) and the claims of deletions.
-- No plain personal data: a hash is HMAC-SHA256 with a sub-key of the secret key, cut to 16 bytes.
-- All instants are milliseconds since the Unix epoch.

-- Which repository the configured name means. The number outlives renames and tells a new
-- repository of an old name apart.
CREATE TABLE tracker_repository (
  name TEXT PRIMARY KEY, -- owner/name in lower case
  repositoryId INTEGER NOT NULL,
  seenAt INTEGER NOT NULL
) STRICT;

-- How far the directory is filled.
CREATE TABLE directory_state (
  repositoryId INTEGER PRIMARY KEY,
  keyCheck BLOB NOT NULL, -- tells whether the hashes were made with today's key
  rulesCheck BLOB NOT NULL, -- tells whether bodies were read by today's form
  crawl INTEGER NOT NULL, -- number of the crawl that runs, or of the last one
  crawling INTEGER NOT NULL CHECK (crawling IN (0, 1)),
  crawlStartedAt INTEGER NOT NULL,
  crawlIssues INTEGER NOT NULL, -- seen so far
  crawlReached INTEGER NOT NULL, -- greatest updatedAt that the crawl has kept; it resumes there
  completedAt INTEGER, -- end of the last complete crawl; null: there was none yet
  caughtUpTo INTEGER NOT NULL -- greatest updatedAt that a crawl or a catch-up has kept
) STRICT;

-- One row for each issue that is no pull request, whatever its state and labels.
CREATE TABLE directory_lead (
  repositoryId INTEGER NOT NULL,
  number INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  approved INTEGER NOT NULL CHECK (approved IN (0, 1)),
  labels TEXT NOT NULL, -- JSON array of names in lower case
  crawl INTEGER NOT NULL, -- the last crawl in which it was seen
  PRIMARY KEY (repositoryId, number)
) STRICT, WITHOUT ROWID;

-- E-mail, correlation id and external ids of a lead. A look-up reads the primary key.
CREATE TABLE directory_key (
  keyHash BLOB NOT NULL,
  repositoryId INTEGER NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (keyHash, repositoryId, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX directory_key_by_lead ON directory_key (repositoryId, number);

-- A lead is claimed, and so invisible to readers, while one row without releasedAt names it.
-- Every event has rows of its own, so that what one event gives back stays claimed for another.
CREATE TABLE claim (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repositoryId INTEGER NOT NULL,
  number INTEGER NOT NULL,
  receiptId TEXT NOT NULL,
  event INTEGER NOT NULL, -- event.id
  claimedAt INTEGER NOT NULL,
  removedAt INTEGER NOT NULL, -- when the lead went out of sight: the first claim's claimedAt
  approved INTEGER NOT NULL CHECK (approved IN (0, 1)), -- at removedAt
  labels TEXT NOT NULL, -- at removedAt; JSON array of names in lower case
  releasedAt INTEGER, -- an operator gave the lead back
  UNIQUE (repositoryId, number, event)
) STRICT;

CREATE INDEX claim_by_event ON claim (event, repositoryId);

CREATE INDEX claim_removal ON claim (removedAt, number) WHERE releasedAt IS NULL AND approved = 1;

-- Bumped with every change of the claims, so that readers see with one small read that none came.
CREATE TABLE claim_version (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  version INTEGER NOT NULL,
  withdrawn INTEGER NOT NULL -- how often a claim was taken back
) STRICT;

INSERT INTO claim_version (one, version, withdrawn) VALUES (1, 0, 0);

CREATE TRIGGER claim_made AFTER INSERT ON claim BEGIN
  UPDATE claim_version SET version = version + 1;
END;

CREATE TRIGGER claim_changed AFTER UPDATE ON claim BEGIN
  UPDATE claim_version SET version = version + 1, withdrawn = withdrawn + 1;
END;

CREATE TRIGGER claim_dropped AFTER DELETE ON claim BEGIN
  UPDATE claim_version SET version = version + 1, withdrawn = withdrawn + 1;
END;
