-- compatible
-- `members` of default versions the other way round: who lists an artifact, newest lister first. A group
-- without a list of its own lists its path, which stands here once, whatever lies below it.

CREATE TABLE catalog_listing (
  workspace_id text COLLATE "C" NOT NULL,
  listed text COLLATE "C" NOT NULL, -- an artifact's id in lower case, or a group's path with a slash at its end
  artifact_serial bigint NOT NULL, -- who lists it
  version_serial bigint NOT NULL, -- the default version of that
  PRIMARY KEY (workspace_id, listed, artifact_serial, version_serial)
);

-- Ids in lower case, or one path; none of what is no default version.
CREATE FUNCTION catalog_listing_of(v catalog_version) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN NOT v.is_face OR v.lifecycle NOT IN ('PUBLISHED', 'DEPRECATED') THEN '{}'
    WHEN v.members IS NOT NULL
      THEN ARRAY(SELECT DISTINCT jsonb_array_elements_text(lower(v.members)::jsonb))
    WHEN v.type = 'GROUP' AND v.group_path IS NOT NULL THEN ARRAY[v.group_path || '/']
    ELSE '{}'
  END $$;

CREATE FUNCTION list_catalog_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM catalog_listing
    WHERE workspace_id = OLD.workspace_id AND listed = ANY (catalog_listing_of(OLD))
      AND artifact_serial = OLD.artifact_serial AND version_serial = OLD.serial;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO catalog_listing (workspace_id, listed, artifact_serial, version_serial)
    SELECT NEW.workspace_id, listed, NEW.artifact_serial, NEW.serial
    FROM unnest(catalog_listing_of(NEW)) AS listed;
  END IF;
  RETURN NULL;
END $$;

INSERT INTO catalog_listing (workspace_id, listed, artifact_serial, version_serial)
SELECT v.workspace_id, listed, v.artifact_serial, v.serial
FROM catalog_version v, unnest(catalog_listing_of(v)) AS listed
WHERE v.is_face;

CREATE TRIGGER catalog_listing_given AFTER INSERT ON catalog_version
  FOR EACH ROW WHEN (NEW.is_face) EXECUTE FUNCTION list_catalog_version();

CREATE TRIGGER catalog_listing_changed
  AFTER UPDATE OF is_face, lifecycle, type, members, group_path ON catalog_version
  FOR EACH ROW WHEN (
    (OLD.is_face, OLD.lifecycle, OLD.type, OLD.members, OLD.group_path)
      IS DISTINCT FROM (NEW.is_face, NEW.lifecycle, NEW.type, NEW.members, NEW.group_path)
  ) EXECUTE FUNCTION list_catalog_version();

CREATE TRIGGER catalog_listing_taken AFTER DELETE ON catalog_version
  FOR EACH ROW WHEN (OLD.is_face) EXECUTE FUNCTION list_catalog_version();
