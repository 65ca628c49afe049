-- breaking
-- One word for one thing: a recheck looks again for leads that the tracker showed late.

ALTER TABLE late_look RENAME TO recheck;
DROP INDEX late_look_due;
CREATE INDEX recheck_due ON recheck (due_at);
