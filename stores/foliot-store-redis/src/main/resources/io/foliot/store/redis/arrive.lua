-- Inserts records and answers that migrate from another part, unless this part has them.
-- ARGV[2]: the latest time for the call by this part's clock, in microseconds. A later call is refused, because it
-- might insert tasks again that have ended here and were deleted.
-- ARGV[3]: the lowest generation that the other part could still give out. ARGV[4]: the number of records.
-- Then per record: id, bytes, body, successor's body, field of its key. Then per answer: field, bytes.
-- Returns 1, or 0 if the call was refused.
if nowMicros > tonumber(ARGV[2]) then
  return {0}
end
raiseShown(tonumber(ARGV[3]))
local at = 5
for _ = 1, tonumber(ARGV[4]) do
  local id, v, body, nextBody, field = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  at = at + 5
  local holder = field ~= '' and call('HGET', KEY, field)
  local live = byte(v, 2) < FINISHED
  local rival = holder and holder ~= id and live and call('HGET', TASK, holder)
  -- Both parts have a live task of a key only if a server has lost its latest writes. The task of this part stays, and
  -- the other task is not inserted.
  local loses = rival and byte(rival, 2) < FINISHED
  if not loses and not call('HGET', TASK, id) then
    put(id, nil, v)
    if body ~= '' then
      call('HSET', BODY, id, body)
    end
    if nextBody ~= '' then
      call('HSET', BODY, id .. 's', nextBody)
    end
    if field ~= '' and (not holder or live) then
      call('HSET', KEY, field, id)
    end
  end
end
for i = at, #ARGV, 2 do
  if call('HSETNX', ANSWER, ARGV[i], ARGV[i + 1]) == 1 then
    -- The value of an answer contains the end of its retention at byte 10.
    call('ZADD', STALE, read('>i8', ARGV[i + 1], 10), ARGV[i])
  end
end
flush()
return {1}
