-- Converts a deadline or a delay to a deadline. A delay of 0 ends now. Any other delay begins at the next full
-- millisecond, so that no task is early.
CASE
  WHEN NOT wanted.relative THEN wanted.due
  WHEN wanted.due = 0 THEN clock.millis
  ELSE clock.millis_up + wanted.due
END
