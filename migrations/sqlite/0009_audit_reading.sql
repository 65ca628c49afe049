-- compatible
-- The audit log is read newest first, of one actor, of one kind of action, or of both: each of these
-- finds its page without looking at the rest. An index holds the rowid too, which orders entries of
-- one instant.

CREATE INDEX audit_by_time ON audit (at);

CREATE INDEX audit_by_actor ON audit (actorSubject, at);

CREATE INDEX audit_by_action ON audit (action, at);

CREATE INDEX audit_by_actor_and_action ON audit (actorSubject, action, at);
