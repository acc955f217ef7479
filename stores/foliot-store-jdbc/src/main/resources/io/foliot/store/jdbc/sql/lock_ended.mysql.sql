-- Locks the rows of tasks that have ended in place, and reads their ids. In the same transaction, move_ended copies
-- them to the kept records, and drop_live then deletes them.
SELECT id FROM foliot_task WHERE id IN ({ids}) AND drop_at IS NOT NULL FOR UPDATE
