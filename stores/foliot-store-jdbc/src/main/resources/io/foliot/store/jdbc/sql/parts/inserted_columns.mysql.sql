-- The columns of rows that may have been inserted: rows of this statement have its versions. The last column is whether
-- the clock has passed their generation.
version, generation, due_at, created_at, generation >= {row_clock_micros}
