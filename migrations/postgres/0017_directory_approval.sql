-- breaking
-- A deletion has to be told to everybody who may have a copy of the lead, also when the lead had lost its
-- approval, or a label, before. So the directory keeps what the lead was while it was approved, whatever
-- becomes of it; claims do not keep it a second time.

CREATE TABLE directory_approval (
  repository_id bigint NOT NULL,
  number bigint NOT NULL,
  labels text[] NOT NULL, -- names in lower case: all that it ever carried while approved
  PRIMARY KEY (repository_id, number)
);

INSERT INTO directory_approval (repository_id, number, labels)
SELECT repository_id, number, array_agg(DISTINCT label)
FROM (
  SELECT repository_id, number, labels FROM directory_lead WHERE approved
  UNION ALL SELECT repository_id, number, labels FROM claim WHERE approved
) AS seen CROSS JOIN unnest(seen.labels) AS label
GROUP BY repository_id, number;

DROP INDEX claim_removal;
DROP INDEX claim_undescribed;
ALTER TABLE claim DROP COLUMN approved, DROP COLUMN labels, DROP COLUMN is_described;

CREATE INDEX claim_removal ON claim (removed_at, number) WHERE released_at IS NULL;
