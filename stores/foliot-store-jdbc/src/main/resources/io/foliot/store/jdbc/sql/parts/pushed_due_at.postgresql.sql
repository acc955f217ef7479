-- The new deadline, but no later than max_wait after the first deadline. least() ignores a max_wait that is NULL.
least(push.due_at, task.first_due_at + push.max_wait)
