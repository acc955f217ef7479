-- Claims tasks. ARGV[2], 32 bytes per claim: the lease in milliseconds, the latest time at which the claim may win, and
-- the token. ARGV[3..]: the ids.
-- Returns the time in milliseconds, the answers, and per won claim the record and the body. An answer begins with a
-- byte:
--   0: the task is absent or final
--   1: the task cannot be claimed before the time that follows, an 8-byte integer
--   2: the claim is won
--   3: the task is due, but the latest time has passed
--   9: take the general path
local values = call('HMGET', TASK, unpack(ARGV, 3))
local answers, won, withBody = {}, {}, {}
for i = 1, #values do
  local v = values[i]
  local answer = '\0'
  if v and not plain(v) then
    answer = '\9'
  elseif v then
    local state, flags = byte(v, 2), byte(v, 3)
    local generation, dueAt, wakeAt, firstDueAt, createdAt, changedAt, claimedAt, leaseEnd =
      read('>i8i8i8i8i8i8i8i8', v, 13)
    local id = ARGV[i + 2]
    local later = state == DELAYED and dueAt or leaseEnd
    if state == RUNNING and leaseEnd <= now then
      answer = '\9'
    elseif (state == DELAYED or state == RUNNING) and later > now then
      if wakeAt ~= later or band(flags, IS_PARKED) ~= 0 then
        local kept = band(flags, IS_PARKED) ~= 0 and flags - IS_PARKED or flags
        put(id, v, sub(v, 1, 2) .. string.char(kept) .. sub(v, 4, 28) .. pack('>i8', later) .. sub(v, 37))
      end
      answer = pack('>Bi8', 1, later)
    elseif state == DELAYED and now > read('>i8', ARGV[2], i * 32 - 23) then
      answer = '\3'
    elseif state == DELAYED then
      local lease, _, token = read('>i8i8c16', ARGV[2], i * 32 - 31)
      local attempt, maxAttempts = read('>I4I4', v, 5)
      local queue = queueOf(v)
      if band(flags, IS_PARKED) ~= 0 then
        unplace(queue, true, id .. queue)
        flags = flags - IS_PARKED
      end
      if band(flags, HAS_TOKEN) == 0 then
        flags = flags + HAS_TOKEN
      end
      leaseEnd = now + lease
      local after = pack('>BBBBI4I4i8i8i8i8i8i8i8i8', 1, RUNNING, flags, 0, attempt + 1, maxAttempts, generation, dueAt,
        leaseEnd, firstDueAt, createdAt, now, now, leaseEnd) .. sub(v, 77, 84) .. token .. sub(v, 101)
      place(queue, false, id .. queue, leaseEnd)
      count(queue, DELAYED, -1)
      count(queue, RUNNING, 1)
      tasks[#tasks + 1] = id
      tasks[#tasks + 1] = after
      won[#won + 1] = after
      won[#won + 1] = false
      if band(flags, HAS_BODY) ~= 0 then
        withBody[#withBody + 1] = id
        withBody[id] = #won
      end
      answer = '\2'
    end
  end
  answers[i] = answer
end
flush()
local bodies = many('HMGET', BODY, withBody)
for i = 1, #withBody do
  won[withBody[withBody[i]]] = bodies[i]
end
return {now, table.concat(answers), won}
