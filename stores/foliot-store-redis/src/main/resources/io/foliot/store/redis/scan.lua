-- Scans records. ARGV[2]: the cursor of the scan; ARGV[3]: about how many records to scan; ARGV[4]: the last id at this
-- cursor that an earlier call has returned, or an empty text; ARGV[5]: the largest number of records to return;
-- ARGV[6]: the queue, or an empty text for all queues; ARGV[7]: the state, 254 for all live states, 255 for all states.
-- Returns the cursor of the next call, and the last id returned at that cursor or an empty text. Then per record: its
-- id, its bytes, its body and the body of its successor.
--
-- A step of HSCAN returns whole buckets of the hash. If a bucket has more records than may be returned, the records
-- with the smallest ids are returned. The next call skips all ids up to the last of these. So records that are deleted
-- meanwhile hide no others. If the record with the last id was deleted, the step may return another bucket: the call
-- then skips no record, and may return some again. A record is missed only if the hash shrinks between the two calls,
-- and its bucket is merged with the bucket of the last id.
local cursor, left, after, room = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local queue, wanted = ARGV[6], tonumber(ARGV[7])
local AT_A_STEP = 10
local out = {'0', ''}

local function isWanted(v)
  if not plain(v) then
    -- A migration to another store reads all live tasks, and must report a record that cannot be read.
    return wanted == 254
  end
  local state = byte(v, 2)
  if queue ~= '' and queueOf(v) ~= queue then
    return false
  elseif state >= FINISHED and read('>i8', v, 77) <= now then
    return false
  elseif wanted == 255 then
    return true
  elseif wanted == 254 then
    return state < FINISHED
  elseif wanted <= DELAYED then
    return state == DELAYED and (read('>i8', v, 21) <= now) == (wanted == 0)
  end
  return state == wanted
end

local function show(id, v)
  out[#out + 1] = id
  out[#out + 1] = v
  out[#out + 1] = plain(v) and band(byte(v, 3), HAS_BODY) ~= 0 and call('HGET', BODY, id)
  out[#out + 1] = plain(v) and band(byte(v, 3), HAS_SUCCESSOR_BODY) ~= 0 and call('HGET', BODY, id .. 's')
end

local perStep, isDone = after == '' and AT_A_STEP or 1, false
repeat
  local found = call('HSCAN', TASK, cursor, 'COUNT', perStep)
  local values, ids = {}, {}
  for i = 1, #found[2], 2 do
    values[found[2][i]] = found[2][i + 1]
  end
  local skips = values[after] ~= nil
  for id, v in pairs(values) do
    if isWanted(v) and (not skips or isBehind(id, after)) then
      ids[#ids + 1] = id
    end
  end
  if #ids > room and perStep > 1 then
    -- Reads the same buckets again, one by one.
    perStep = 1
  else
    table.sort(ids, function(one, other)
      return isBehind(other, one)
    end)
    for i = 1, math.min(#ids, room) do
      show(ids[i], values[ids[i]])
    end
    if #ids > room then
      out[1], out[2] = cursor, ids[room]
      return out
    end
    room, left = room - #ids, left - max(perStep, #found[2] / 2)
    perStep = after == '' and perStep or AT_A_STEP
    cursor, after = found[1], ''
    isDone = cursor == '0' or room == 0 or left <= 0
  end
until isDone
out[1] = cursor
return out
