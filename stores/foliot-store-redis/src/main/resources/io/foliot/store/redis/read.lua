-- Reads records for the general path. The bodies of successors are always read. ARGV[2] is a sum: 1 to also read the
-- bodies of tasks, and 2 to also read the task that now has the key of each record. ARGV[3] and ARGV[4] are the numbers
-- of ids and of keys. The ids follow, then the keys, then the fields of answers.
-- Returns the time in microseconds, the lowest generation that this part may give out, and the values read.
local mode, ids, keys = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local bodies, follow = band(mode, 1) ~= 0, band(mode, 2) ~= 0
local out = {nowMicros, shown}

local function show(id)
  local v = id and call('HGET', TASK, id)
  local known = v and plain(v)
  out[#out + 1] = v
  out[#out + 1] = known and bodies and band(byte(v, 3), HAS_BODY) ~= 0 and call('HGET', BODY, id)
  out[#out + 1] = known and band(byte(v, 3), HAS_SUCCESSOR_BODY) ~= 0 and call('HGET', BODY, id .. 's')
  return known and v
end

local function showKey(field)
  local id = call('HGET', KEY, field)
  out[#out + 1] = id
  show(id)
end

for i = 5, 4 + ids do
  local v = show(ARGV[i])
  if follow then
    local field = v and fieldOf(v)
    if field then
      showKey(field)
    else
      for _ = 1, 4 do
        out[#out + 1] = false
      end
    end
  end
end
for i = 5 + ids, 4 + ids + keys do
  showKey(ARGV[i])
end
for i = 5 + ids + keys, #ARGV do
  out[#out + 1] = call('HGET', ANSWER, ARGV[i])
end
return out
