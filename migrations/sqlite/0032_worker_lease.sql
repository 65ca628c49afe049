-- breaking
-- The lease alone says who works: there is no lock on a file beside the store any more.
ALTER TABLE worker_lease DROP COLUMN has_lock;
