-- Parks the tasks that are due, if their index entries still have the scores that the caller has read. If a task is not
-- due yet, its entry moves to the due time. ARGV[2], an 8-byte integer per task: the score of the task's entry;
-- ARGV[3..]: the ids. Returns a byte per task: 1: parked; 0: not parked; 9: take the general path.
local values = call('HMGET', TASK, unpack(ARGV, 3))
local answers = {}
for i = 1, #values do
  local v = values[i]
  local answer = '\0'
  if v and not plain(v) then
    answer = '\9'
  elseif v then
    local state, flags = byte(v, 2), byte(v, 3)
    local dueAt, wakeAt = read('>i8i8', v, 21)
    local expected = read('>i8', ARGV[2], i * 8 - 7)
    if (state == DELAYED or state == RUNNING) and band(flags, IS_PARKED) == 0 and wakeAt == expected then
      if state == RUNNING then
        answer = '\9'
      elseif dueAt <= now then
        put(ARGV[i + 2], v, sub(v, 1, 2) .. string.char(flags + IS_PARKED) .. sub(v, 4))
        answer = '\1'
      elseif dueAt ~= wakeAt then
        put(ARGV[i + 2], v, sub(v, 1, 28) .. pack('>i8', dueAt) .. sub(v, 37))
      end
    end
  end
  answers[i] = answer
end
flush()
return {table.concat(answers)}
