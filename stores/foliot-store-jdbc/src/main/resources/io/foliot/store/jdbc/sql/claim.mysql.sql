-- Claims waiting tasks that are due, and moves the index entries of waiting tasks that are not due.
-- Safety rests on state = delayed in the WHERE. The WHERE is evaluated on the locked row, so the second of two claims
-- finds the task running. A claim that is too late, or that is only a move, does not change a due task (see in_time).
-- The token is derived from the task's id and a secret of this call, so no token is used twice. The tokens distinguish
-- the claims of this call from all other claims. The server executes the assignments in order, and each assignment
-- reads the new values of the columns assigned before it. Therefore no assignment here reads a column that was assigned
-- before it.
UPDATE foliot_task SET
  state = CASE WHEN due_at <= {now} THEN {running} ELSE {delayed} END,
  attempt = CASE WHEN due_at <= {now} THEN attempt + 1 ELSE attempt END,
  token = CASE WHEN due_at <= {now} THEN UNHEX(LEFT(SHA2(CONCAT(?, id), 256), 32)) ELSE token END,
  settled_as = CASE WHEN due_at <= {now} THEN NULL ELSE settled_as END,
  claimed_at = CASE WHEN due_at <= {now} THEN {now} ELSE claimed_at END,
  changed_at = CASE WHEN due_at <= {now} THEN {now} ELSE changed_at END,
  lease_end = CASE WHEN due_at <= {now} THEN {now} + {lease} ELSE lease_end END,
  wake_at = CASE WHEN due_at <= {now} THEN {now} + {lease} ELSE due_at END,
  part = CASE WHEN part >= {parked} THEN {slot} ELSE part END,
  version = version + 1
WHERE id IN ({ids}) AND state = {delayed} AND {known_version}
  AND CASE WHEN due_at <= {now} THEN {in_time} ELSE wake_at <> due_at OR part >= {parked} END
