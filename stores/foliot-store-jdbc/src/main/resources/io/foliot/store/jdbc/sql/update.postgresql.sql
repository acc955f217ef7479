-- Writes live records. With answers, also stores each answer that depends on no record (change = 0), or on a written
-- record.
-- Safety rests on the version of each row. If another call has stored an answer to one of the requests since the read,
-- the primary key makes the whole statement fail.
{answers?} WITH written AS (
{updated}
{answers?} ),
{answers?} remembered AS (
{answers?}   INSERT INTO foliot_request (queue, key, request, digest, kind, id, generation, due_at, state, drop_at)
{answers?}   SELECT
{answers?}     answer.queue, answer.key, answer.request, answer.digest, answer.kind, answer.id, answer.generation,
{answers?}     answer.due_at, answer.state, answer.drop_at
{answers?}   FROM unnest(?, ?, ?, ?, ?, ?::uuid[], ?, ?, ?, ?, ?) AS answer(
{answers?}     queue, key, request, digest, kind, id, generation, due_at, state, drop_at, change
{answers?}   )
{answers?}   WHERE answer.change = 0 OR answer.change IN (SELECT place FROM written)
{answers?} )
{answers?} SELECT place FROM written
