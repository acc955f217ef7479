-- Sets aside tasks whose records cannot be read. Per item: its id, the record as it was read, why it cannot be read,
-- and how long what is left of it is kept. Answers the queue of each, or nothing if it was left alone.
local queues = {}
for i = 2, #ARGV, 4 do
  queues[#queues + 1] = setAside(ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3])) or false
end
flush()
return queues
