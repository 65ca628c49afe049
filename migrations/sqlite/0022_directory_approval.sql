-- breaking
-- A deletion has to be told to everybody who may have a copy of the lead, also when the lead had lost its
-- approval, or a label, before. So the directory keeps what the lead was while it was approved, whatever
-- becomes of it; claims do not keep it a second time.

CREATE TABLE directory_approval (
  repositoryId INTEGER NOT NULL,
  number INTEGER NOT NULL,
  labels TEXT NOT NULL, -- JSON array of names in lower case: all that it ever carried while approved
  PRIMARY KEY (repositoryId, number)
) STRICT, WITHOUT ROWID;

INSERT INTO directory_approval (repositoryId, number, labels)
SELECT repositoryId, number, json_group_array(DISTINCT value)
FROM (
  SELECT repositoryId, number, labels FROM directory_lead WHERE approved = 1
  UNION ALL SELECT repositoryId, number, labels FROM claim WHERE approved = 1
) AS seen, json_each(seen.labels)
GROUP BY repositoryId, number;

DROP INDEX claim_removal;
DROP INDEX claim_undescribed;
ALTER TABLE claim DROP COLUMN approved;
ALTER TABLE claim DROP COLUMN labels;
ALTER TABLE claim DROP COLUMN isDescribed;

CREATE INDEX claim_removal ON claim (removedAt, number) WHERE releasedAt IS NULL;
