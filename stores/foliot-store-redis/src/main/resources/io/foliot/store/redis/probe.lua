-- Reads when tasks can be claimed next, and the scores of their index entries: two 8-byte integers (i8) per task. Each
-- is the lowest i8 if the task is absent, has ended or cannot be read. ARGV[2..]: the ids.
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
