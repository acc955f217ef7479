-- Resets waiting tasks by key. ARGV[2]: per item kind and value of the due time, maxWait or -1; ARGV[3..]: the keys.
local ids = call('HMGET', KEY, unpack(ARGV, 3))
local found = {}
for i = 1, #ids do
  if ids[i] then
    found[#found + 1] = ids[i]
  end
end
local values = #found > 0 and call('HMGET', TASK, unpack(found)) or {}
local answers, at = {}, 0
for i = 1, #ids do
  local id, v = ids[i], false
  if id then
    at = at + 1
    v = values[at]
  end
  local answer = '\0'
  if v then
    local state, flags, settledAs, _, maxAttempts, generation, _, wakeAt, firstDueAt = read('>BBBI4I4i8i8i8i8', v, 2)
    if state == RUNNING then
      answer = '\9'
    elseif state == DELAYED then
      local kind, value, maxWait = read('>Bi8i8', ARGV[2], i * 17 - 16)
      local dueAt = dueAtOf(kind, value)
      if maxWait >= 0 and dueAt > firstDueAt + maxWait then
        dueAt = firstDueAt + maxWait
      end
      generation = max(generation + 1, nowMicros, shown)
      local earlier = 0
      if dueAt < wakeAt then
        local queue = queueOf(v)
        if band(flags, IS_PARKED) ~= 0 then
          unplace(queue, true, id .. queue)
          flags = flags - IS_PARKED
        end
        place(queue, false, id .. queue, dueAt)
        wakeAt, earlier = dueAt, 1
      end
      tasks[#tasks + 1] = id
      tasks[#tasks + 1] = pack('>BBBBI4I4i8i8i8i8', 1, state, flags, settledAs, 0, maxAttempts, generation, dueAt, wakeAt,
        firstDueAt) .. sub(v, 45)
      answer = pack('>BBi8i8c16', band(flags, OUTSTANDING) ~= 0 and 2 or 1, earlier, generation, dueAt, id)
    end
  end
  answers[i] = answer
end
flush()
return {table.concat(answers)}
