-- The columns of rows that this call may have inserted: the inserted rows have versions of this call. The last column
-- is true while the clock has not passed the generation.
version, generation, due_at, created_at, generation >= {row_clock_micros}
