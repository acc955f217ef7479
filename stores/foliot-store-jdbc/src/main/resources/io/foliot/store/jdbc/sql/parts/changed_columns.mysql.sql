-- Assignments of the columns that each change of a live record writes.
task.due_at = wanted.due_at,
task.first_due_at = wanted.first_due_at,
task.changed_at = wanted.changed_at,
task.generation = wanted.generation,
task.lease_end = NULLIF(wanted.lease_end, 0),
task.claimed_at = NULLIF(wanted.claimed_at, 0),
task.attempt = wanted.attempt,
task.max_attempts = wanted.max_attempts,
task.state = wanted.state,
task.settled_as = NULLIF(wanted.settled_as, {no_end}),
task.cancel_requested = wanted.cancel_requested,
task.outstanding = wanted.outstanding,
task.token = wanted.token
