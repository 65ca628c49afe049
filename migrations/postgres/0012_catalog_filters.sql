-- compatible
-- Lists filtered by what few versions or none have are decided in the index, without a look at each row.

DROP INDEX catalog_version_face;
CREATE INDEX catalog_version_face
  ON catalog_version (workspace_id, artifact_serial, lifecycle, source, type) WHERE is_face;

DROP INDEX catalog_version_by_workspace;
CREATE INDEX catalog_version_by_workspace
  ON catalog_version (workspace_id, serial, lifecycle, source, type);
