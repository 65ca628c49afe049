-- breaking
-- One word for one thing: the version that lists show, and the one that an owner set as default.

ALTER TABLE catalog_artifact RENAME COLUMN face_serial TO listed_serial;
ALTER TABLE catalog_artifact RENAME COLUMN pinned_serial TO default_serial;
ALTER TABLE catalog_version RENAME COLUMN is_face TO is_listed;
