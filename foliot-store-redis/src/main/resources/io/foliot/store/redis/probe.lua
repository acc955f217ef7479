-- Reads when tasks have to be looked at next: an i8 a task, the lowest of all where nothing is known. ARGV[2..]: the ids.
local values = call('HMGET', TASK, unpack(ARGV, 2))
local answers = {}
for i = 1, #values do
  local v = values[i]
  local state = v and byte(v, 2)
  if state == DELAYED then
    answers[i] = sub(v, 21, 28)
  elseif state == RUNNING then
    answers[i] = sub(v, 69, 76)
  else
    answers[i] = '\128\0\0\0\0\0\0\0'
  end
end
return {table.concat(answers)}
