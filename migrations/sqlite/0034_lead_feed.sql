-- breaking
-- What the lead feed is read from. One row for each lead that could ever be read, as readers may know it:
-- numbers, labels and instants, nothing of a person.

CREATE TABLE lead_change (
  repository_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  position INTEGER NOT NULL, -- when it changed last, in ms since the Unix epoch; later changes have greater ones
  is_visible INTEGER NOT NULL, -- 1: approved, here, and not claimed
  updated_at INTEGER NOT NULL, -- by the tracker
  labels TEXT NOT NULL, -- JSON array of names in lower case
  carried TEXT NOT NULL, -- all that it ever carried while approved
  PRIMARY KEY (repository_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX lead_change_order ON lead_change (repository_id, position, number);

INSERT INTO lead_change (repository_id, number, position, is_visible, updated_at, labels, carried)
SELECT lead.repository_id, lead.number, 1,
  approved AND NOT is_moved AND NOT EXISTS (SELECT 1 FROM claim
    WHERE claim.repository_id = lead.repository_id AND claim.number = lead.number AND released_at IS NULL),
  updated_at, lead.labels, approval.labels
FROM directory_lead AS lead JOIN directory_approval AS approval
  ON approval.repository_id = lead.repository_id AND approval.number = lead.number;

-- Consumers that follow the feed: while there are any, the lead directory is filled without partners, too.
CREATE TABLE lead_feed_reader (
  consumer_id TEXT PRIMARY KEY,
  position INTEGER NOT NULL, -- how far it has read
  read_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
