-- Leaves rows to newer nodes that a newer version of Foliot wrote: a blob begins with the version of its format.
LEFT(body, 1) <= X'01' AND (attempts IS NULL OR LEFT(attempts, 1) <= X'01')
