-- A row of insert_unnamed. A value may refer to an earlier column, here wake_at and created_at. The generation may be
-- below the floor, because only the generations of tasks with the same key have to grow.
(
  ?, {queue}, NULL, {slot_number},
  {at?} {due},
  {at_once?} {now},
  {after?} ({clock_micros} + 999) DIV 1000 + {due},
  wake_at, wake_at, {now}, created_at, {delayed},
  GREATEST({seen_micros}, {row_clock_micros}), 0, {max_attempts}, 0, 0, {version}, ?
)
