-- breaking
-- Artifacts, their versions and specs, their full text, and answers kept for idempotency keys.
-- Times are milliseconds since the Unix epoch.

CREATE TABLE catalog_artifact (
  serial INTEGER PRIMARY KEY AUTOINCREMENT, -- ascending with creation: the order of lists
  workspaceId TEXT NOT NULL,
  idFolded TEXT NOT NULL,
  id TEXT NOT NULL, -- as its first version spelled it
  pinnedSerial INTEGER, -- the version set as default
  faceSerial INTEGER, -- the version that stands for the artifact; its default when it has one
  versions INTEGER NOT NULL DEFAULT 0,
  UNIQUE (workspaceId, idFolded)
) STRICT;

CREATE TABLE catalog_version (
  serial INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice
  artifactSerial INTEGER NOT NULL REFERENCES catalog_artifact (serial),
  workspaceId TEXT NOT NULL,
  version TEXT NOT NULL,
  orderKey TEXT NOT NULL, -- byte order is the order of versions
  isFace INTEGER NOT NULL DEFAULT 0 CHECK (isFace IN (0, 1)),
  revision INTEGER NOT NULL,
  lifecycle TEXT NOT NULL CHECK (lifecycle IN ('DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED')),
  type TEXT NOT NULL,
  source TEXT NOT NULL,
  owner TEXT NOT NULL,
  title TEXT NOT NULL,
  projectId TEXT,
  groupPath TEXT,
  groupKey TEXT GENERATED ALWAYS AS (groupPath || '/') VIRTUAL, -- a range of it is a group
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  publishedAt INTEGER,
  deprecatedAt INTEGER,
  sunsetAt INTEGER,
  members TEXT, -- JSON array of ids; NULL when the owner gave no list
  counts TEXT, -- JSON object
  findings TEXT, -- JSON array; NULL when there are none
  description TEXT,
  UNIQUE (artifactSerial, version)
) STRICT;

-- Walks one row per artifact, newest first; lifecycle, source and type are looked at in the index.
CREATE INDEX catalog_version_face
  ON catalog_version (workspaceId, artifactSerial, lifecycle, source, type) WHERE isFace = 1;
CREATE INDEX catalog_version_by_workspace
  ON catalog_version (workspaceId, serial, lifecycle, source, type);
CREATE INDEX catalog_version_by_owner ON catalog_version (workspaceId, owner, isFace, artifactSerial);
CREATE INDEX catalog_version_by_project
  ON catalog_version (workspaceId, projectId, isFace, artifactSerial) WHERE projectId IS NOT NULL;
CREATE INDEX catalog_version_by_group
  ON catalog_version (workspaceId, groupKey, isFace, artifactSerial, lifecycle, type)
  WHERE groupPath IS NOT NULL;

CREATE TABLE catalog_spec (
  versionSerial INTEGER PRIMARY KEY REFERENCES catalog_version (serial) ON DELETE CASCADE,
  text TEXT NOT NULL -- one JSON text
) STRICT;

-- Terms come folded and cut (src/catalog/search-terms.ts): the tokenizer only splits at spaces.
-- One row per artifact (the text of its face) and one per version, so that both lists can be
-- searched in their own order. Neither keeps the text itself. Every beginning of a term has an entry
-- (terms are cut at 20 characters), so that a search reads no more rows than it shows.
CREATE VIRTUAL TABLE catalog_artifact_text USING fts5 (
  terms, content = '', contentless_delete = 1, detail = none,
  prefix = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20', tokenize = 'unicode61 remove_diacritics 0'
);
CREATE VIRTUAL TABLE catalog_version_text USING fts5 (
  terms, content = '', contentless_delete = 1, detail = none,
  prefix = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20', tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TABLE idempotency_key (
  digest BLOB PRIMARY KEY, -- of workspace, principal, route and key
  workspaceId TEXT NOT NULL,
  fingerprint BLOB NOT NULL, -- of the request
  startedAt INTEGER NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL, -- JSON object
  body TEXT NOT NULL,
  bytes INTEGER NOT NULL -- of headers and body
) STRICT;

CREATE INDEX idempotency_key_by_age ON idempotency_key (workspaceId, startedAt, bytes);
