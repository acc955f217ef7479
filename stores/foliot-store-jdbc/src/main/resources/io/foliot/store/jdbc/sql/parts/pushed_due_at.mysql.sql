-- The new deadline, but no later than max_wait after the first deadline.
LEAST({due_at}, task.first_due_at + wanted.max_wait)
