-- Inserts live records: kept records that become live again (wanted.was is the generation of the kept record), and
-- records that are new to this store (wanted.was = 0).
-- Safety rests on the unique indexes (ON CONFLICT). A kept record must also have its expected generation, and no kept
-- record of its key may have the new generation or a larger one. The versions of new rows are the random
-- number of this call plus their places in the batch.
WITH entered AS (
  INSERT INTO foliot_task (
    wake_at, due_at, first_due_at, created_at, changed_at, generation, version, lease_end, claimed_at, queue, part,
    attempt, max_attempts, state, settled_as, cancel_requested, outstanding, id, token, key, body, successor, attempts
  )
  SELECT
    wanted.wake_at, wanted.due_at, wanted.first_due_at, wanted.created_at, wanted.changed_at, wanted.generation,
    ?::bigint + wanted.place, nullif(wanted.lease_end, 0), nullif(wanted.claimed_at, 0), wanted.queue, wanted.part,
    wanted.attempt, wanted.max_attempts, wanted.state, nullif(wanted.settled_as, {no_end}), wanted.cancel_requested,
    wanted.outstanding, wanted.id, wanted.token, wanted.key, coalesce(wanted.body, kept.body), wanted.successor,
    wanted.attempts
  FROM unnest(
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::uuid[], ?::uuid[], ?, ?, ?, ?, ?
  ) WITH ORDINALITY AS wanted(
    wake_at, due_at, first_due_at, created_at, changed_at, generation, lease_end, claimed_at, queue, part, attempt,
    max_attempts, state, settled_as, cancel_requested, outstanding, id, token, key, body, successor, attempts, was,
    place
  )
  LEFT JOIN foliot_final kept ON kept.id = wanted.id AND kept.generation = wanted.was
  WHERE wanted.was = 0 OR (kept.id IS NOT NULL AND NOT EXISTS (
    SELECT FROM foliot_final newer
    WHERE newer.queue = wanted.queue AND newer.key = wanted.key AND newer.generation >= wanted.generation
  ))
  ON CONFLICT DO NOTHING
  RETURNING id, version - ?::bigint AS place
),
gone AS (
  DELETE FROM foliot_final kept USING entered WHERE kept.id = entered.id
)
SELECT place FROM entered
