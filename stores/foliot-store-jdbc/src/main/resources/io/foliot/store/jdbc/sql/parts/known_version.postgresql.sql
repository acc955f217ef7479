-- Excludes rows that a newer version of Foliot wrote; newer nodes claim them. A blob begins with the version of its
-- format.
substring(task.body FROM 1 FOR 1) <= '\x01'::bytea
AND (task.attempts IS NULL OR substring(task.attempts FROM 1 FOR 1) <= '\x01'::bytea)
