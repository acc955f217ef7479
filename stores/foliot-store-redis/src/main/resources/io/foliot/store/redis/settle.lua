-- Records attempts that succeeded or are retried. ARGV[2], 50 bytes per item: the generation, token, outcome (0:
-- succeeded, 1: retried, 9: take the general path), kind and value of the due time, beginning of the attempt, and
-- retention in milliseconds.
-- ARGV[3..], per item: the id, and the detail of the attempt's end.
-- An answer is 1, the new state and the wake time (0 if the task has ended); or 9: take the general path.
local ids = {}
for i = 3, #ARGV, 2 do
  ids[#ids + 1] = ARGV[i]
end
local values = many('HMGET', TASK, ids)
local answers = {}
for i = 1, #ids do
  local v = values[i]
  local answer = '\9'
  if v and plain(v) then
    local _, state, flags, settledAs, attempt, maxAttempts, generation, dueAt, wakeAt, firstDueAt, createdAt, changedAt,
      claimedAt, leaseEnd, dropAt, token, attempts = read('>BBBBI4I4i8i8i8i8i8i8i8i8i8c16B', v)
    local settled, with, outcome, kind, value, begunAt, keptMillis = read('>i8c16BBi8i8i8', ARGV[2], i * 50 - 49)
    if state == RUNNING and token == with and generation == settled and attempts < 16 and outcome < 2
        and band(flags, CANCEL_REQUESTED + HAS_SUCCESSOR) == 0 then
      local detail = ARGV[i * 2 + 2]
      if outcome == 0 then
        state, dropAt = FINISHED, now + keptMillis
        raiseShown(generation + 1)
      else
        state, dueAt = DELAYED, dueAtOf(kind, value)
        wakeAt = dueAt
      end
      local after = pack('>BBBBI4I4i8i8i8i8i8i8i8i8i8', 1, state, band(flags, 254), outcome + 1, attempt, maxAttempts,
        generation, dueAt, wakeAt, firstDueAt, createdAt, now, claimedAt, leaseEnd, dropAt) .. token
        .. string.char(attempts + 1) .. sub(v, 102)
        .. pack('>i8I4i8i8BH', generation, attempt, begunAt, now, outcome, #detail) .. detail
      put(ids[i], v, after)
      answer = pack('>BBi8', 1, state, state == DELAYED and wakeAt or 0)
    end
  end
  answers[i] = answer
end
sweep(2 * #ids)
flush()
return {table.concat(answers)}
