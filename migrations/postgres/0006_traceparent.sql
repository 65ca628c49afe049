-- compatible
-- The span of the call that brought a delivery, so that the worker's spans, later and perhaps in
-- another process, belong to the same trace. Random numbers; null where traces are off.

ALTER TABLE receipt ADD COLUMN traceparent text;
