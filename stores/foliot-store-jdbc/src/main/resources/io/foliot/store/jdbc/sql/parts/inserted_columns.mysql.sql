-- The columns of the rows that this call may have inserted. A row was inserted by this call if it has a version of this
-- call. The last column is the time since the generation of the row was read from the clock, or less if the generation
-- is ahead of the clock.
version, generation, due_at, created_at, {row_clock_micros} - generation
