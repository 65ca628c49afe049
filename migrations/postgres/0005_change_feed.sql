-- compatible
-- What one process learnt from the tracker's webhook and the others on this store must know: issue
-- numbers, states, labels and instants, no texts and no people. The newest 256 rows are kept, and
-- their positions have no holes.

CREATE TABLE change_batch (
  position bigint PRIMARY KEY,
  instance_id text NOT NULL, -- which process wrote it
  changes text NOT NULL -- JSON
);
