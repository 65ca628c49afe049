-- compatible
-- A CRM that has made one contact of two deletes only by the id that is left. Merges are kept: a lead with
-- an old id may come later, and so may the merge before.

CREATE TABLE directory_merge (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- the oldest go first
  fromHash BLOB NOT NULL, -- as directory_key has it: of an external id, with its partner
  toHash BLOB NOT NULL, -- whoever is known by the other is known by this, too
  UNIQUE (toHash, fromHash)
) STRICT;

CREATE INDEX directory_merge_from ON directory_merge (fromHash);
