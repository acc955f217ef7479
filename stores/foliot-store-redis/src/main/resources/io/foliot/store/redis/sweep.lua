-- Deletes tasks and answers whose retention is over.
local swept = sweep(tonumber(ARGV[2]))
flush()
return {swept}
