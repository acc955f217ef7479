-- Deletes tasks and answers whose retention is over. ARGV[2]: the largest number of tasks, and of answers, to
-- delete. Returns the number of tasks and answers deleted.
local swept = sweep(tonumber(ARGV[2]))
flush()
return {swept}
