-- A row of insert_unnamed. Columns may refer to those before them: wake_at to due_at, created_at to changed_at.
(
  ?, {queue}, NULL, {slot_number},
  {at?} {due},
  {at_once?} {now},
  {after?} ({clock_micros} + 999) DIV 1000 + {due},
  wake_at, wake_at, {now}, created_at, {delayed},
  GREATEST({seen_micros}, {row_clock_micros}), 0, {max_attempts}, 0, 0, {version}, ?
)
