-- Reads when the leases of tasks end: an 8-byte integer (i8) per task, in milliseconds since 1970; the lowest i8 if the
-- task does not run or cannot be read. ARGV[2..]: the ids.
local values = call('HMGET', TASK, unpack(ARGV, 2))
local answers = {}
for i = 1, #values do
  local v = values[i]
  if v and plain(v) and byte(v, 2) == RUNNING then
    answers[i] = sub(v, 69, 76)
  else
    answers[i] = '\128\0\0\0\0\0\0\0'
  end
end
return {table.concat(answers)}
