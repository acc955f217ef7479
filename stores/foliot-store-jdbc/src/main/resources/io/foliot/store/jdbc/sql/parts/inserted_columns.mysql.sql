-- What is asked of rows that may have been inserted: ours have versions of ours; and whether the clock has passed
-- their generation.
version, generation, due_at, created_at, generation >= {row_clock_micros}
