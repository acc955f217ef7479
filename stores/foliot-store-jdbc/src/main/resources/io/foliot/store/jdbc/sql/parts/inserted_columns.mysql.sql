-- The columns of rows that may have been inserted: rows of this call have its versions. The last column is true while
-- the clock has not passed the generation.
version, generation, due_at, created_at, generation >= {row_clock_micros}
