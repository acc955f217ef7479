-- Writes the results of the general path. Each unit is written only if none of its records, keys and answers has
-- changed since the read.
-- ARGV[2]: the latest time for the call by this part's clock, in microseconds; a later call is refused. Then per unit:
-- the numbers of records and answers, the lowest generation that may be given out afterwards, and the values of each
-- record and answer, in the order of the code below. Returns 1 per written unit, 0 per unit to be read again.
local late = nowMicros > tonumber(ARGV[2])
local at = 3
local done = {}

local function take()
  at = at + 1
  return ARGV[at - 1]
end

while at <= #ARGV do
  local records, answers, lastShown = read('>HHi8', take())
  local holds, writes = not late, {}
  for i = 1, records do
    local id, hasBefore, bodyStep, nextBodyStep, keyCheck = read('>c16BBBB', take())
    local before = hasBefore == 1 and take()
    local after = take()
    local body, nextBody = bodyStep == 2 and take(), nextBodyStep == 2 and take()
    local field = keyCheck > 0 and take()
    local expected = keyCheck == 2 and take()
    holds = holds and call('HGET', TASK, id) == before and (not field or call('HGET', KEY, field) == expected)
    writes[i] = {id, before, after, bodyStep, body, nextBodyStep, nextBody}
  end
  local remembered = {}
  for i = 1, answers do
    local expected, field, value, dropAt = take(), take(), take(), take()
    holds = holds and (call('HGET', ANSWER, field) or '') == expected
    remembered[i] = {field, value, dropAt}
  end
  if holds then
    for i = 1, records do
      local id, before, after, bodyStep, body, nextBodyStep, nextBody = unpack(writes[i])
      put(id, before or nil, after)
      local live = byte(after, 2) < FINISHED
      local field = live and (not before or byte(before, 2) >= FINISHED) and fieldOf(after)
      if field then
        call('HSET', KEY, field, id)
      end
      if bodyStep == 2 then
        call('HSET', BODY, id, body)
      elseif bodyStep == 1 then
        call('HDEL', BODY, id)
      end
      if nextBodyStep == 2 then
        call('HSET', BODY, id .. 's', nextBody)
      elseif nextBodyStep == 1 then
        call('HDEL', BODY, id .. 's')
      end
    end
    for i = 1, answers do
      call('HSET', ANSWER, remembered[i][1], remembered[i][2])
      call('ZADD', STALE, remembered[i][3], remembered[i][1])
    end
    raiseShown(lastShown)
  end
  done[#done + 1] = holds and '\1' or '\0'
end
sweep(2 * #done)
flush()
return {table.concat(done)}
