-- breaking
-- What is written to find out whether anything can be: on both engines the same.
ALTER TABLE write_check DROP COLUMN checked_at;
ALTER TABLE write_check ADD COLUMN filler bytea NOT NULL DEFAULT '';
