-- breaking
-- Nobody reads who lists an artifact any more. Terms are cut where a version is written, or behind a copy.

DROP TRIGGER catalog_listing_given ON catalog_version;
DROP TRIGGER catalog_listing_changed ON catalog_version;
DROP TRIGGER catalog_listing_taken ON catalog_version;
DROP FUNCTION list_catalog_version();
DROP FUNCTION catalog_listing_of(catalog_version);
DROP TABLE catalog_listing;

ALTER TABLE catalog_version ALTER COLUMN terms SET DEFAULT '';
