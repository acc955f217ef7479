-- Takes in what crosses from another part, if it is not here. ARGV[2]: the clock of this part behind which it is too
-- late: traces of what has lived and ended here meanwhile may be gone; ARGV[3]: no generation given out there is this
-- large; ARGV[4]: how many records; per record its id, itself, its bodies, the field of the key that points to it; then
-- per answer its field and itself.
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
  -- Only where a server has lost its last writes may a key be live on both sides: that of the new side stays.
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
    call('ZADD', STALE, read('>i8', ARGV[i + 1], 10), ARGV[i])
  end
end
flush()
return {1}
