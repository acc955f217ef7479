-- Inserts a task if no live task has its key or its id, and if its request has no stored answer. Safety rests on ON
-- CONFLICT: the unique indexes of id and of (queue, key) decide, also against transactions that this statement does not
-- see. The result has one row for each inserted task, or one row with NULLs after the clock if no task was inserted.
-- The last column is the clock minus the generation: the microseconds since the generation was read, or less if the
-- generation was ahead of the clock.
-- The versions of new rows are the random number of this call plus their places in the batch. The generation is read
-- from the clock just before the row is inserted. So if a task with the same key ended while the statement ran, the new
-- generation is larger than the generation of that task. There are two exceptions, which TaskSteps.ensureLast handles:
-- the insert waited after the clock was read, or the clock was set back or has stopped. Codes in answers: kind 0 is
-- CREATED, state 0 is READY, and state 1 is DELAYED.
WITH clock AS MATERIALIZED ({clock_and_floor}),
draft AS (
  SELECT wanted.*, clock.millis, clock.floor, {due_at} AS due_at, ?::bigint + wanted.place AS version
  FROM clock, unnest(
    ?::uuid[], ?, ?, ?, ?, ?, ?, ?
    {requests?} , ?, ?
  ) WITH ORDINALITY AS wanted(
    id, queue, key, slot, due, relative, max_attempts, body,
    {requests?} request, digest,
    place
  )
),
inserted AS (
  INSERT INTO foliot_task (
    id, queue, key, part, wake_at, due_at, first_due_at, created_at, changed_at, state,
    generation, attempt, max_attempts, cancel_requested, outstanding, version, body
  )
  SELECT
    draft.id, draft.queue, draft.key, draft.slot, draft.due_at, draft.due_at, draft.due_at, draft.millis,
    draft.millis, {delayed}, greatest(draft.floor, {clock_micros}), 0, draft.max_attempts, false, false, draft.version,
    draft.body
  FROM draft
  {requests?} WHERE draft.request IS NULL OR NOT EXISTS (
  {requests?}   SELECT FROM foliot_request answer
  {requests?}   WHERE answer.queue = draft.queue AND answer.key = coalesce(draft.key, '')
  {requests?}     AND answer.request = draft.request
  {requests?} )
  ON CONFLICT DO NOTHING
  RETURNING id, version, generation, due_at
)
{requests?} , answered AS (
{requests?}   INSERT INTO foliot_request (queue, key, request, digest, kind, id, generation, due_at, state, drop_at)
{requests?}   SELECT
{requests?}     draft.queue, coalesce(draft.key, ''), draft.request, draft.digest, 0, inserted.id,
{requests?}     inserted.generation, inserted.due_at, CASE WHEN inserted.due_at <= draft.millis THEN 0 ELSE 1 END,
{requests?}     draft.millis + {answer_kept_millis}
{requests?}   FROM inserted JOIN draft ON draft.version = inserted.version
{requests?}   WHERE draft.request IS NOT NULL
{requests?} )
SELECT clock.micros, inserted.version, inserted.generation, inserted.due_at, {clock_micros} - inserted.generation
FROM clock LEFT JOIN inserted ON true
