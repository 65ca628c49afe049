-- compatible
-- `members` of default versions the other way round: who lists an artifact, newest lister first. A group
-- without a list of its own lists its path, which stands here once, whatever lies below it.

ALTER TABLE catalog_version ADD COLUMN listing TEXT GENERATED ALWAYS AS (
  CASE
    WHEN isFace = 0 OR lifecycle NOT IN ('PUBLISHED', 'DEPRECATED') THEN NULL
    WHEN members IS NOT NULL THEN lower(members)
    WHEN type = 'GROUP' AND groupPath IS NOT NULL THEN json_array(groupPath || '/')
  END
) VIRTUAL; -- JSON array of ids in lower case, or of one path

CREATE TABLE catalog_listing (
  workspaceId TEXT NOT NULL,
  listed TEXT NOT NULL, -- an artifact's id in lower case, or a group's path with a slash at its end
  artifactSerial INTEGER NOT NULL, -- who lists it
  versionSerial INTEGER NOT NULL, -- the default version of that
  PRIMARY KEY (workspaceId, listed, artifactSerial, versionSerial)
) STRICT, WITHOUT ROWID;

INSERT INTO catalog_listing (workspaceId, listed, artifactSerial, versionSerial)
SELECT DISTINCT v.workspaceId, listed.value, v.artifactSerial, v.serial
FROM catalog_version v, json_each(v.listing) AS listed
WHERE v.listing IS NOT NULL;

CREATE TRIGGER catalog_listing_given AFTER INSERT ON catalog_version
WHEN NEW.listing IS NOT NULL BEGIN
  INSERT OR IGNORE INTO catalog_listing (workspaceId, listed, artifactSerial, versionSerial)
  SELECT NEW.workspaceId, value, NEW.artifactSerial, NEW.serial FROM json_each(NEW.listing);
END;

CREATE TRIGGER catalog_listing_changed
AFTER UPDATE OF isFace, lifecycle, type, members, groupPath ON catalog_version
WHEN OLD.listing IS NOT NEW.listing BEGIN
  DELETE FROM catalog_listing
  WHERE workspaceId = OLD.workspaceId AND artifactSerial = OLD.artifactSerial
    AND versionSerial = OLD.serial
    AND listed IN (SELECT value FROM json_each(coalesce(OLD.listing, '[]')));
  INSERT OR IGNORE INTO catalog_listing (workspaceId, listed, artifactSerial, versionSerial)
  SELECT NEW.workspaceId, value, NEW.artifactSerial, NEW.serial
  FROM json_each(coalesce(NEW.listing, '[]'));
END;

CREATE TRIGGER catalog_listing_taken AFTER DELETE ON catalog_version
WHEN OLD.listing IS NOT NULL BEGIN
  DELETE FROM catalog_listing
  WHERE workspaceId = OLD.workspaceId AND artifactSerial = OLD.artifactSerial
    AND versionSerial = OLD.serial AND listed IN (SELECT value FROM json_each(OLD.listing));
END;
