-- The columns of the rows that this call may have inserted. A row was inserted by this call if it has a version of this
-- call. The last column is true while the clock has not passed the generation of the row.
version, generation, due_at, created_at, generation >= {row_clock_micros}
