-- Deletes tasks and answers whose retention is over. ARGV[2]: the limit for each. Returns the number deleted.
local swept = sweep(tonumber(ARGV[2]))
flush()
return {swept}
