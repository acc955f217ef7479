-- Resets waiting tasks. ARGV[2]: kind and value of the due time, and maxWait or -1, in ms: once for all items, or
-- once per item; ARGV[3..], per item: the field of the key, or the byte 1 and the id of the key's last known task.
-- An answer begins with a byte: 0, the key has no live task; 9, the item must take the general path; 1, the task was
-- reset; 2, it was reset and an attempt is outstanding. After 1 or 2 follow four values: a byte (1 if the index entry
-- is earlier now, else 0), the generation, the due time and the id.
local params, items = ARGV[2], #ARGV - 2
local ids, keyPlaces, keys = {}, {}, {}
for i = 1, items do
  local name = ARGV[i + 2]
  if byte(name) == 1 then
    ids[i] = sub(name, 2)
  else
    ids[i] = false
    keyPlaces[#keyPlaces + 1] = i
    keys[#keys + 1] = name
  end
end
local answers = {}
if #keys > 0 then
  local pointers = call('HMGET', KEY, unpack(keys))
  for i = 1, #keys do
    ids[keyPlaces[i]] = pointers[i]
    if not pointers[i] then
      answers[keyPlaces[i]] = '\0'
    end
  end
end
local found, places = {}, {}
for i = 1, items do
  if ids[i] then
    found[#found + 1] = ids[i]
    places[#found] = i
  end
end
local values = #found > 0 and call('HMGET', TASK, unpack(found)) or {}
local same = #params == 17
local kind, value, maxWait = read('>Bi8i8', params)
local least = max(nowMicros, shown)
local written = 0
for j = 1, #found do
  local id, v, i = found[j], values[j], places[j]
  local state, flags = 0, 0
  if v and plain(v) then
    state, flags = byte(v, 2, 3)
  end
  if state == DELAYED then
    if not same then
      kind, value, maxWait = read('>Bi8i8', params, i * 17 - 16)
    end
    local dueAt = dueAtOf(kind, value)
    local generation, _, wakeAt, firstDueAt = read('>i8i8i8i8', v, 13)
    if maxWait >= 0 and dueAt > firstDueAt + maxWait then
      dueAt = firstDueAt + maxWait
    end
    generation = max(generation + 1, least)
    local numbers, earlier = pack('>i8i8', generation, dueAt), 0
    local after
    if dueAt < wakeAt then
      local queue = queueOf(v)
      if band(flags, IS_PARKED) ~= 0 then
        unplace(queue, true, id .. queue)
      end
      place(queue, false, id .. queue, dueAt)
      earlier = 1
      after = sub(v, 1, 2) .. string.char(band(flags, 254)) .. sub(v, 4, 4) .. '\0\0\0\0' .. sub(v, 9, 12) .. numbers
        .. pack('>i8', dueAt) .. sub(v, 37)
    elseif isWorthMoving(flags, wakeAt, dueAt) then
      place(queueOf(v), false, id .. queueOf(v), dueAt)
      after = sub(v, 1, 4) .. '\0\0\0\0' .. sub(v, 9, 12) .. numbers .. pack('>i8', dueAt) .. sub(v, 37)
    else
      after = sub(v, 1, 4) .. '\0\0\0\0' .. sub(v, 9, 12) .. numbers .. sub(v, 29)
    end
    tasks[written + 1], tasks[written + 2] = id, after
    written = written + 2
    answers[i] = string.char(band(flags, OUTSTANDING) ~= 0 and 2 or 1, earlier) .. numbers .. id
  elseif state >= FINISHED and byte(ARGV[i + 2]) ~= 1 then
    answers[i] = '\0'
  else
    -- The task runs, cannot be read, or is only the last known task of a key that may have another task by now.
    answers[i] = '\9'
  end
end
flush()
return {table.concat(answers)}
