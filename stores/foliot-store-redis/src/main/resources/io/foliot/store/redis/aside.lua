-- Sets aside tasks whose records cannot be read. ARGV[2..], per task: the id, the record as it was read, the reason,
-- and how long its bytes are kept, in milliseconds. Returns the queue of each task, or nil if the record has changed.
local queues = {}
for i = 2, #ARGV, 4 do
  queues[#queues + 1] = setAside(ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3])) or false
end
flush()
return queues
