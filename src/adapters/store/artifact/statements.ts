export const LOCK_ARTIFACT = `
  SELECT serial, id, default_serial, listed_serial, versions FROM catalog_artifact
  WHERE workspace_id = @workspaceId AND id_folded = @idFolded FOR UPDATE`;

/** Nothing where another instance has just made it. */
export const INSERT_ARTIFACT = `
  INSERT INTO catalog_artifact (workspace_id, id_folded, id) VALUES (@workspaceId, @idFolded, @id)
  ON CONFLICT (workspace_id, id_folded) DO NOTHING
  RETURNING serial, id, default_serial, listed_serial, versions`;

/** Terms are cut already: no dictionary of the server's is to change them. */
const TERMS = "array_to_tsvector(string_to_array(@terms, ' '))";

export const INSERT_VERSION = `
  INSERT INTO catalog_version (
    artifact_serial, workspace_id, version, order_key, is_listed, revision, lifecycle, type, source,
    owner, title, project_id, group_path, created_at, updated_at, published_at, deprecated_at, sunset_at,
    members, counts, findings, description, terms
  ) VALUES (
    @artifact, @workspaceId, @version, @orderKey, @isListed, @revision, @lifecycle, @type, @source,
    @owner, @title, @projectId, @groupPath, @createdAt, @updatedAt, @publishedAt, @deprecatedAt, @sunsetAt,
    @members, @counts, @findings, @description, ${TERMS}
  ) RETURNING serial`;

const IS_AS_READ = 'serial = @serial AND workspace_id = @workspaceId AND revision';

/** Changes nothing when the row is not any more the one before this revision. */
export const UPDATE_VERSION = `
  UPDATE catalog_version SET
    revision = @revision, lifecycle = @lifecycle, type = @type, source = @source, owner = @owner,
    title = @title, project_id = @projectId, group_path = @groupPath, updated_at = @updatedAt,
    published_at = @publishedAt, deprecated_at = @deprecatedAt, sunset_at = @sunsetAt,
    members = @members, counts = @counts, findings = @findings, description = @description,
    terms = ${TERMS}
  WHERE ${IS_AS_READ} = @formerRevision`;

/** A move between states changes no content. */
export const MOVE_VERSION = `
  UPDATE catalog_version SET
    revision = @revision, lifecycle = @lifecycle, updated_at = @updatedAt,
    published_at = @publishedAt, deprecated_at = @deprecatedAt, sunset_at = @sunsetAt,
    findings = @findings
  WHERE ${IS_AS_READ} = @formerRevision`;

export const DELETE_VERSION = `DELETE FROM catalog_version WHERE ${IS_AS_READ} = @revision`;

export const UNCHANGED = `SELECT 1 FROM catalog_version WHERE ${IS_AS_READ} = @revision`;

export const PUT_SPEC = `
  INSERT INTO catalog_spec (version_serial, text) VALUES (@serial, @text)
  ON CONFLICT (version_serial) DO UPDATE SET text = excluded.text`;

export const READ_SPEC = 'SELECT text FROM catalog_spec WHERE version_serial = @serial';

export const DELETE_SPEC = 'DELETE FROM catalog_spec WHERE version_serial = @serial';
