-- A task that ends while the database has no room for a row in foliot_final keeps its row here, with a final state, and
-- moves later. drop_at and end_reason are then drop_at and reason of foliot_final; otherwise they are NULL. No index
-- has these columns or the state, so such an end changes no index.
ALTER TABLE foliot_task
  ADD COLUMN drop_at    BIGINT,
  ADD COLUMN end_reason VARBINARY(1024);

UPDATE foliot_meta SET value = '4' WHERE name = 'schema';
