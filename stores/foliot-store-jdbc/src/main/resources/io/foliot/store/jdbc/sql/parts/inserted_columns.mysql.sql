-- The columns of the rows that this call may have inserted. A row was inserted by this call if it has a version of this
-- call. The last column is the clock minus the generation: the microseconds since the generation was read, or less if
-- the generation was ahead of the clock.
version, generation, due_at, created_at, {row_clock_micros} - generation
