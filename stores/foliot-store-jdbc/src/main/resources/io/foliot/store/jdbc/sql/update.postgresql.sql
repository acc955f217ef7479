-- Writes live records; with answers, also stores the answers that depend on a record that was written, or on none
-- (change = 0).
-- Safety rests on the version of each row. A request that has got an answer meanwhile fails the whole statement by its
-- primary key.
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
