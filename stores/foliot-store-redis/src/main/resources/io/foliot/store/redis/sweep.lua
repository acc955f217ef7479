-- Forgets what ended long enough ago.
local swept = sweep(tonumber(ARGV[2]))
flush()
return {swept}
