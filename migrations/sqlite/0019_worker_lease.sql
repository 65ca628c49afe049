-- compatible
-- Which process does the background work. It says so again and again, each time with another beat, so
-- that the others see when it does not: a process that is frozen keeps its lock on the file beside the store.
CREATE TABLE worker_lease (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  holder TEXT, -- null: nobody has it
  beat INTEGER NOT NULL,
  hasLock INTEGER NOT NULL -- 1: who has the lease has that lock as well, so that a free lock says that it is gone
) STRICT;

INSERT INTO worker_lease (one, beat, hasLock) VALUES (1, 0, 1);
