-- Inserts tasks, or resets waiting tasks. ARGV[2..], per item: its numbers, the field of its key or nothing, the bytes
-- after the header of its record, its body. The numbers are the id, kind and value of the due time, maxWait or -1,
-- maxAttempts or 0, onConflict (0: reset, 1: keep, 2: reject), and bodyKind (0: keep, 1: delete, 2: replace).
-- An answer is the kind of result, the state, whether the index entry is earlier now, the generation, the due time and
-- the id; or 9: take the general path.
local items = (#ARGV - 1) / 4
local fields = {}
for i = 1, items do
  local field = ARGV[i * 4 - 1]
  if field ~= '' then
    fields[#fields + 1] = field
  end
end
local pointers = many('HMGET', KEY, fields)
local found = {}
for i = 1, #fields do
  if pointers[i] then
    found[#found + 1] = pointers[i]
  end
end
local values = many('HMGET', TASK, found)
local keys, bodies, answers = {}, {}, {}
local nextField, nextFound = 0, 0
for i = 1, items do
  local field = ARGV[i * 4 - 1]
  local newId, kind, value, maxWait, attempts, onConflict, bodyKind = read('>c16Bi8i8I4BB', ARGV[i * 4 - 2])
  local id, v = false, false
  if field ~= '' then
    nextField = nextField + 1
    id = pointers[nextField]
    if id then
      nextFound = nextFound + 1
      v = values[nextFound]
    end
  end
  local dueAt = dueAtOf(kind, value)
  local last = 0
  local state = 0
  if v and not plain(v) then
    state = RUNNING
  elseif v then
    state, last = byte(v, 2), read('>i8', v, 13)
  end
  -- A task that runs or cannot be read takes the general path.
  if state == RUNNING then
    answers[i] = '\9'
  elseif state == DELAYED and onConflict > 0 then
    dueAt = read('>i8', v, 21)
    answers[i] = pack('>BBBi8i8c16', 2 + onConflict, dueAt <= now and 0 or DELAYED, 0, last, dueAt, id)
  elseif state == DELAYED then
    local _, flags, settledAs, _, maxAttempts, generation, _, wakeAt, firstDueAt = read('>BBBI4I4i8i8i8i8', v, 2)
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
    elseif isWorthMoving(flags, wakeAt, dueAt) then
      place(queueOf(v), false, id .. queueOf(v), dueAt)
      wakeAt = dueAt
    end
    if bodyKind == 2 then
      bodies[#bodies + 1] = id
      bodies[#bodies + 1] = ARGV[i * 4 + 1]
      flags = band(flags, HAS_BODY) == 0 and flags + HAS_BODY or flags
    elseif bodyKind == 1 and band(flags, HAS_BODY) ~= 0 then
      call('HDEL', BODY, id)
      flags = flags - HAS_BODY
    end
    tasks[#tasks + 1] = id
    tasks[#tasks + 1] = pack('>BBBBI4I4i8i8i8i8', 1, DELAYED, flags, settledAs, 0,
      attempts == 0 and maxAttempts or attempts,
      generation, dueAt, wakeAt, firstDueAt) .. sub(v, 45)
    answers[i] = pack('>BBBi8i8c16', band(flags, OUTSTANDING) ~= 0 and 2 or 1, dueAt <= now and 0 or DELAYED, earlier,
      generation, dueAt, id)
  else
    local generation = max(last + 1, nowMicros, shown)
    local flags = (field ~= '' and HAS_KEY or 0) + (bodyKind == 2 and HAS_BODY or 0)
    local tail = ARGV[i * 4]
    local queue = sub(tail, 2, 1 + byte(tail, 1))
    tasks[#tasks + 1] = newId
    tasks[#tasks + 1] = pack('>BBBBI4I4i8i8i8i8i8i8i8i8i8i8i8B', 1, DELAYED, flags, 0, 0, attempts, generation, dueAt,
      dueAt, dueAt, now, now, 0, 0, 0, 0, 0, 0) .. tail
    place(queue, false, newId .. queue, dueAt)
    count(queue, DELAYED, 1)
    if field ~= '' then
      keys[#keys + 1] = field
      keys[#keys + 1] = newId
    end
    if bodyKind == 2 then
      bodies[#bodies + 1] = newId
      bodies[#bodies + 1] = ARGV[i * 4 + 1]
    end
    answers[i] = pack('>BBBi8i8c16', 0, dueAt <= now and 0 or DELAYED, 1, generation, dueAt, newId)
  end
end
each('HSET', BODY, bodies)
flush()
each('HSET', KEY, keys)
return {table.concat(answers)}
