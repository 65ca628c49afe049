-- breaking
-- Columns are called as in the other engine, and a version has its terms, as there: triggers take them to the
-- full text. Nobody reads who lists an artifact any more.

DROP TRIGGER catalog_listing_given;
DROP TRIGGER catalog_listing_changed;
DROP TRIGGER catalog_listing_taken;
DROP TABLE catalog_listing;
ALTER TABLE catalog_version DROP COLUMN listing;

ALTER TABLE catalog_artifact RENAME COLUMN workspaceId TO workspace_id;
ALTER TABLE catalog_artifact RENAME COLUMN idFolded TO id_folded;
ALTER TABLE catalog_artifact RENAME COLUMN pinnedSerial TO pinned_serial;
ALTER TABLE catalog_artifact RENAME COLUMN faceSerial TO face_serial;

ALTER TABLE catalog_version RENAME COLUMN artifactSerial TO artifact_serial;
ALTER TABLE catalog_version RENAME COLUMN workspaceId TO workspace_id;
ALTER TABLE catalog_version RENAME COLUMN orderKey TO order_key;
ALTER TABLE catalog_version RENAME COLUMN isFace TO is_face;
ALTER TABLE catalog_version RENAME COLUMN projectId TO project_id;
ALTER TABLE catalog_version RENAME COLUMN groupPath TO group_path;
ALTER TABLE catalog_version RENAME COLUMN groupKey TO group_key;
ALTER TABLE catalog_version RENAME COLUMN createdAt TO created_at;
ALTER TABLE catalog_version RENAME COLUMN updatedAt TO updated_at;
ALTER TABLE catalog_version RENAME COLUMN publishedAt TO published_at;
ALTER TABLE catalog_version RENAME COLUMN deprecatedAt TO deprecated_at;
ALTER TABLE catalog_version RENAME COLUMN sunsetAt TO sunset_at;
ALTER TABLE catalog_version ADD COLUMN terms TEXT NOT NULL DEFAULT ''; -- cut by src/catalog/reading/search-terms.ts

ALTER TABLE catalog_spec RENAME COLUMN versionSerial TO version_serial;

-- `search_text` is the migrator's own.
UPDATE catalog_version SET terms = search_text(a.id, title, owner, group_path, description)
FROM catalog_artifact a WHERE a.serial = artifact_serial;

CREATE TRIGGER catalog_text_given AFTER INSERT ON catalog_version WHEN NEW.terms <> '' BEGIN
  INSERT INTO catalog_version_text (rowid, terms) VALUES (NEW.serial, NEW.terms);
  INSERT INTO catalog_artifact_text (rowid, terms)
  SELECT NEW.artifact_serial, NEW.terms WHERE NEW.is_face = 1;
END;

CREATE TRIGGER catalog_text_changed AFTER UPDATE OF terms ON catalog_version
WHEN OLD.terms <> NEW.terms BEGIN
  DELETE FROM catalog_version_text WHERE rowid = OLD.serial;
  INSERT INTO catalog_version_text (rowid, terms) VALUES (NEW.serial, NEW.terms);
END;

CREATE TRIGGER catalog_text_represented AFTER UPDATE OF terms, is_face ON catalog_version
WHEN NEW.is_face = 1 AND (OLD.is_face = 0 OR OLD.terms <> NEW.terms) BEGIN
  DELETE FROM catalog_artifact_text WHERE rowid = NEW.artifact_serial;
  INSERT INTO catalog_artifact_text (rowid, terms) VALUES (NEW.artifact_serial, NEW.terms);
END;

CREATE TRIGGER catalog_text_taken AFTER DELETE ON catalog_version BEGIN
  DELETE FROM catalog_version_text WHERE rowid = OLD.serial;
END;

CREATE TRIGGER catalog_text_of_none AFTER DELETE ON catalog_artifact BEGIN
  DELETE FROM catalog_artifact_text WHERE rowid = OLD.serial;
END;
