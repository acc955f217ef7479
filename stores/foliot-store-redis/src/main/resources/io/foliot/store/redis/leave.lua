-- Deletes records and answers that have migrated to another part. ARGV[2]: the number of ids; then the ids, then the
-- fields of answers.
local ids = tonumber(ARGV[2])
for i = 3, 2 + ids do
  local id = ARGV[i]
  local v = call('HGET', TASK, id)
  if v then
    local queue, state, field = queueOf(v), byte(v, 2), fieldOf(v)
    if state < FINISHED then
      unplace(queue, band(byte(v, 3), IS_PARKED) ~= 0, id .. queue)
    else
      call('ZREM', DROP, id .. queue)
    end
    count(queue, state, -1)
    call('HDEL', TASK, id)
    call('HDEL', BODY, id, id .. 's')
    if field and call('HGET', KEY, field) == id then
      call('HDEL', KEY, field)
    end
  end
end
for i = 3 + ids, #ARGV do
  call('HDEL', ANSWER, ARGV[i])
  call('ZREM', STALE, ARGV[i])
end
flush()
return {1}
