-- The new deadline, but no later than max_wait behind the first one.
LEAST({due_at}, task.first_due_at + wanted.max_wait)
