-- Scans records. ARGV[2]: the cursor of the scan; ARGV[3]: about how many records to scan; ARGV[4]: the number of
-- records at this cursor that earlier calls have examined; ARGV[5]: the largest number of records to return; ARGV[6]:
-- the queue, or an empty text for all queues; ARGV[7]: the state, 254 for all live states, 255 for all states.
-- Returns the cursor of the next call, the number of records at that cursor that have been examined, and per record:
-- its id, its bytes, its body and the body of its successor.
local skipped, limit, queue, wanted = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local found = call('HSCAN', TASK, ARGV[2], 'COUNT', ARGV[3])
local pairs = found[2]
local out = {found[1], 0}

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

local last = #pairs / 2
for i = skipped + 1, last do
  local id, v = pairs[i * 2 - 1], pairs[i * 2]
  if isWanted(v) then
    if #out - 2 == limit * 4 then
      out[1], out[2] = ARGV[2], i - 1
      return out
    end
    out[#out + 1] = id
    out[#out + 1] = v
    out[#out + 1] = plain(v) and band(byte(v, 3), HAS_BODY) ~= 0 and call('HGET', BODY, id)
    out[#out + 1] = plain(v) and band(byte(v, 3), HAS_SUCCESSOR_BODY) ~= 0 and call('HGET', BODY, id .. 's')
  end
end
return out
