-- Excludes rows that a newer version of Foliot wrote; newer nodes claim them. A blob begins with the version of its
-- format.
LEFT(body, 1) <= X'01' AND (attempts IS NULL OR LEFT(attempts, 1) <= X'01')
