-- breaking
-- One word for one thing: a recheck looks again for leads that the tracker showed late.

ALTER TABLE late_look RENAME TO recheck;
ALTER INDEX late_look_pkey RENAME TO recheck_pkey;
ALTER INDEX late_look_due RENAME TO recheck_due;
ALTER TABLE recheck RENAME CONSTRAINT late_look_event_fkey TO recheck_event_fkey;
