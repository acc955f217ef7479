-- Reads when tasks have to be looked at next, and where their index entries are: two i8 a task, the lowest of all where
-- nothing is known. ARGV[2..]: the ids.
local values = call('HMGET', TASK, unpack(ARGV, 2))
local lowest = '\128\0\0\0\0\0\0\0'
local answers = {}
for i = 1, #values do
  local v = values[i]
  local state = v and plain(v) and byte(v, 2)
  if state == DELAYED then
    answers[i] = sub(v, 21, 36)
  elseif state == RUNNING then
    answers[i] = sub(v, 69, 76) .. sub(v, 29, 36)
  else
    answers[i] = lowest .. lowest
  end
end
return {table.concat(answers)}
