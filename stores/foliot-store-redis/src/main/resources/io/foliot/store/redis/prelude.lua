-- The beginning of every script for a part. KEYS[1] is the prefix of the part's keys. KEYS[2] is only declared, see
-- Layout.declared. ARGV[1] is the binary logarithm of the number of parts that the caller knows.
--
-- A record is a string (RecordCodec defines each byte). B, H, I4 and i8 are the formats of struct.pack for integers of
-- 1, 2, 4 and 8 bytes, and c16 for a string of 16 bytes:
--   1 version B | 2 state B | 3 flags B | 4 settledAs B | 5 attempt I4 | 9 maxAttempts I4 | 13 generation i8
--   | 21 dueAt i8 | 29 wakeAt i8 | 37 firstDueAt i8 | 45 createdAt i8 | 53 changedAt i8 | 61 claimedAt i8
--   | 69 leaseEnd i8 | 77 dropAt i8 | 85 token c16 | 101 attempts B | 102 length of queue B | queue | length of key H
--   | key | reason | successor | note | checksum I4 | attempts
-- The header has 101 bytes. Scripts change the header and append attempts. RecordCodec encodes all other bytes. The
-- exception is setAside, which writes a whole new record.
-- States and kinds of results are numbers, which EnumCodes defines. The answer 9 means: take the general path.
local P = KEYS[1]
local TASK, DUE, KEY, BODY = P .. ':task', P .. ':due', P .. ':key', P .. ':body'
local COUNT, DROP, META = P .. ':count', P .. ':drop', P .. ':meta'
local ANSWER, STALE, PARKED, ASIDE = P .. ':answer', P .. ':stale', P .. ':parked', P .. ':aside'

local call, pack, read, sub, byte = redis.call, struct.pack, struct.unpack, string.sub, string.byte
local band, floor, ceil, max = bit.band, math.floor, math.ceil, math.max

local VERSION, HEADER = 1, 101
local DELAYED, RUNNING, FINISHED, FAILED, CANCELLED = 1, 2, 3, 4, 5
local IS_PARKED, CANCEL_REQUESTED, OUTSTANDING, HAS_SUCCESSOR, HAS_KEY = 1, 2, 4, 8, 16
local HAS_TOKEN, HAS_BODY, HAS_SUCCESSOR_BODY = 32, 64, 128
local NOT_PLAIN = 9
-- The maximum number of arguments of one call. Lua's stack has room for 8,000.
local AT_ONCE = 1000
-- Additional time that an ended task is kept after its retention, in milliseconds. A write on the general path is
-- refused if its read was more than half of this time ago. If a task began and ended since the read, it is therefore
-- still there at the time of the write, and the caller notices it.
local GRACE = 10000

local time = redis.call('TIME')
local nowMicros = time[1] * 1000000 + time[2]
local now = floor(nowMicros / 1000)

-- The binary logarithm of the number of parts, and the lowest generation that this part may give out.
local meta = call('HMGET', META, 'bits', 'shown')
local bits, sealed = tonumber(ARGV[1]), tonumber(meta[1])
local shown = tonumber(meta[2] or '0')
if not sealed or bits > sealed then
  call('HSET', META, 'bits', bits)
elseif bits < sealed then
  -- The first word must not be a word of Redis, because cluster clients interpret errors that begin with MOVED or ASK.
  return redis.error_reply('FOLIOTSLOTS ' .. sealed)
end

-- The writes of the script, which flush makes at the end in few calls.
local tasks, dues, undues, drops, counts, counted = {}, {}, {}, {}, {}, {}

local function count(queue, state, by)
  local field = queue .. ':' .. state
  if not counts[field] then
    counts[field] = 0
    counted[#counted + 1] = field
  end
  counts[field] = counts[field] + by
end

local function each(command, key, list)
  for from = 1, #list, AT_ONCE do
    call(command, key, unpack(list, from, math.min(#list, from + AT_ONCE - 1)))
  end
end

local function many(command, key, list)
  local all = {}
  for from = 1, #list, AT_ONCE do
    local some = call(command, key, unpack(list, from, math.min(#list, from + AT_ONCE - 1)))
    for i = 1, #some do
      all[from + i - 1] = some[i]
    end
  end
  return all
end

local function flush()
  each('HSET', TASK, tasks)
  each('ZREM', DUE, undues)
  each('ZADD', DUE, dues)
  each('ZADD', DROP, drops)
  for i = 1, #counted do
    if counts[counted[i]] ~= 0 then
      call('HINCRBY', COUNT, counted[i], counts[counted[i]])
    end
  end
end

-- Returns whether the scripts can read a record. A record that they cannot read is changed only by setAside, and
-- deleted only after its retention.
local function plain(v)
  if #v < HEADER + 5 or byte(v, 1) ~= VERSION or byte(v, 2) < DELAYED or byte(v, 2) > CANCELLED then
    return false
  end
  local key = HEADER + 2 + byte(v, 102)
  return #v >= key + 7 and #v >= key + 7 + read('>H', v, key)
end

-- Returns whether the id at the beginning of a text is greater than another id. Lua's own order of texts depends on the
-- server's locale.
local function isBehind(text, id)
  for at = 1, 13, 4 do
    local a, b = read('>I4', text, at), read('>I4', id, at)
    if a ~= b then
      return a > b
    end
  end
  return false
end

local function queueOf(v)
  return sub(v, 103, 102 + byte(v, 102))
end

-- Returns the field of the record's key, or nil if the record has no key.
local function fieldOf(v)
  if band(byte(v, 3), HAS_KEY) == 0 then
    return nil
  end
  local at = 103 + byte(v, 102)
  local length = read('>H', v, at)
  return sub(v, 103, at - 1) .. '\0' .. sub(v, at + 2, at + 1 + length)
end

local function unplace(queue, parked, member)
  if parked then
    local set = PARKED .. ':' .. queue
    call('ZREM', set, member)
    if call('EXISTS', set) == 0 then
      call('SREM', PARKED, queue)
    end
    count(queue, 'p', -1)
  else
    undues[#undues + 1] = member
  end
end

local function place(queue, parked, member, wakeAt)
  if parked then
    call('ZADD', PARKED .. ':' .. queue, wakeAt, member)
    call('SADD', PARKED, queue)
    count(queue, 'p', 1)
  else
    dues[#dues + 1] = wakeAt
    dues[#dues + 1] = member
  end
end

-- Writes a record, its index entry, the counts, and the time at which the record is dropped. before is the stored
-- record, or nil for a new one.
local function put(id, before, after)
  local state0, flags0, wakeAt0 = 0, 0, 0
  if before then
    state0, flags0, wakeAt0 = byte(before, 2), byte(before, 3), read('>i8', before, 29)
  end
  local state1, flags1, wakeAt1 = byte(after, 2), byte(after, 3), read('>i8', after, 29)
  local live0, live1 = state0 == DELAYED or state0 == RUNNING, state1 == DELAYED or state1 == RUNNING
  local parked0, parked1 = band(flags0, IS_PARKED) ~= 0, band(flags1, IS_PARKED) ~= 0
  local queue = queueOf(after)
  local member = id .. queue
  if live0 and (not live1 or parked0 ~= parked1) then
    unplace(queue, parked0, member)
  end
  if live1 and (not live0 or parked0 ~= parked1 or wakeAt0 ~= wakeAt1) then
    place(queue, parked1, member, wakeAt1)
  end
  if state0 ~= state1 then
    if before then
      count(queue, state0, -1)
    end
    count(queue, state1, 1)
  end
  if state1 >= FINISHED then
    drops[#drops + 1] = read('>i8', after, 77)
    drops[#drops + 1] = member
  elseif state0 >= FINISHED then
    call('ZREM', DROP, member)
  end
  tasks[#tasks + 1] = id
  tasks[#tasks + 1] = after
end

local function raiseShown(generation)
  if generation > shown then
    shown = generation
    call('HSET', META, 'shown', generation)
  end
end

-- Deletes at most limit tasks, and at most limit answers to requests, if their retention ended at least GRACE ago.
-- Returns the number of deleted tasks and answers.
local function sweep(limit)
  local members = call('ZRANGEBYSCORE', DROP, '-inf', now - GRACE, 'LIMIT', 0, limit)
  for i = 1, #members do
    local id = sub(members[i], 1, 16)
    local v = call('HGET', TASK, id)
    if v and not plain(v) then
      -- The entry in DROP shows that the task has ended, that its retention is over, and which queue it had.
      local state = byte(v, 2)
      if state and state >= FINISHED and state <= CANCELLED then
        count(sub(members[i], 17), state, -1)
      end
      call('HDEL', TASK, id)
      call('HDEL', BODY, id)
    elseif v and byte(v, 2) >= FINISHED then
      count(queueOf(v), byte(v, 2), -1)
      call('HDEL', TASK, id)
      if byte(v, 2) == FAILED then
        call('HDEL', ASIDE, id, id .. 'b', id .. 's')
      end
      if band(byte(v, 3), HAS_BODY) ~= 0 then
        call('HDEL', BODY, id)
      end
      local field = fieldOf(v)
      if field and call('HGET', KEY, field) == id then
        call('HDEL', KEY, field)
      end
    end
    call('ZREM', DROP, members[i])
  end
  local fields = call('ZRANGEBYSCORE', STALE, '-inf', now - GRACE, 'LIMIT', 0, limit)
  for i = 1, #fields do
    call('HDEL', ANSWER, fields[i])
    call('ZREM', STALE, fields[i])
  end
  return #members + #fields
end

-- Returns whether a reset to a later time also moves the index entry. TaskLife has the same rule.
local function isWorthMoving(flags, wakeAt, dueAt)
  return band(flags, IS_PARKED) == 0 and dueAt > now and wakeAt <= now + floor((dueAt - now) / 8) * 5
end

-- Returns the due time in milliseconds: value is an instant if kind is 0, else a delay.
local function dueAtOf(kind, value)
  if kind == 0 then
    return value
  end
  return value == 0 and now or ceil(nowMicros / 1000) + value
end

-- Returns the CRC32C of the bytes, computed bit by bit, because scripts rarely need it.
local function crc32c(bytes)
  local sum = -1
  for i = 1, #bytes do
    sum = bit.bxor(sum, byte(bytes, i))
    for _ = 1, 8 do
      local lowest = band(sum, 1)
      sum = bit.rshift(sum, 1)
      if lowest == 1 then
        sum = bit.bxor(sum, 0x82F63B78)
      end
    end
  end
  return bit.bnot(sum) % 4294967296
end

-- Ends a task, because its record cannot be read. Writes a FAILED record with the reason, and keeps the unreadable
-- bytes as long as the FAILED record. Returns the queue of the task ('#unknown' if no entry shows it), or nil if the
-- record has changed.
local function setAside(id, v, reason, keptMillis)
  if call('HGET', TASK, id) ~= v then
    return nil
  end
  local queues, readable = {}, plain(v)
  if readable then
    queues[1] = queueOf(v)
  else
    -- The index entry contains the name of the queue, so the script tries the queues of this part.
    local fields = call('HKEYS', COUNT)
    for i = 1, #fields do
      queues[i] = string.match(fields[i], '^(.*):')
    end
  end
  local queue, live = readable and queues[1] or '#unknown', false
  for i = 1, #queues do
    local member = id .. queues[i]
    local isDue, isDropped = call('ZREM', DUE, member) > 0, call('ZREM', DROP, member) > 0
    if isDue or isDropped then
      queue, live = queues[i], isDue
    elseif call('ZREM', PARKED .. ':' .. queues[i], member) > 0 then
      queue, live = queues[i], true
      count(queue, 'p', -1)
      if call('EXISTS', PARKED .. ':' .. queue) == 0 then
        call('SREM', PARKED, queue)
      end
    end
  end
  call('HSET', ASIDE, id, v)
  local body, nextBody = call('HGET', BODY, id), call('HGET', BODY, id .. 's')
  if body then
    call('HSET', ASIDE, id .. 'b', body)
  end
  if nextBody then
    call('HSET', ASIDE, id .. 's', nextBody)
  end
  call('HDEL', BODY, id, id .. 's')
  local generation, dueAt, createdAt, attempt, maxAttempts, key, flags = max(nowMicros, shown), now, now, 0, 0, '', 0
  if readable then
    count(queue, byte(v, 2), -1)
    attempt, maxAttempts, generation, dueAt = read('>I4I4i8i8', v, 5)
    createdAt = read('>i8', v, 45)
    flags = band(byte(v, 3), HAS_KEY)
    if flags ~= 0 then
      local at = 103 + byte(v, 102)
      key = sub(v, at + 2, at + 1 + read('>H', v, at))
      -- The key may have a newer task.
      local field = queue .. '\0' .. key
      if call('HGET', KEY, field) == id then
        call('HDEL', KEY, field)
      end
    end
  elseif queue ~= '#unknown' then
    -- The state may be damaged too. The entry shows whether the task was live, so that is never counted wrongly.
    local state = byte(v, 2)
    if live and state ~= RUNNING then
      state = DELAYED
    end
    if live or (state and state >= FINISHED and state <= CANCELLED) then
      count(queue, state, -1)
    end
  end
  raiseShown(generation + 1)
  local dropAt = now + keptMillis
  local names = string.char(#queue) .. queue .. pack('>H', #key) .. key .. pack('>H', #reason) .. reason .. '\0'
  tasks[#tasks + 1] = id
  tasks[#tasks + 1] = pack('>BBBBI4I4i8i8i8i8i8i8i8i8i8i8i8B', VERSION, FAILED, flags, 0, attempt, maxAttempts,
    generation, dueAt, dueAt, dueAt, createdAt, now, 0, 0, dropAt, 0, 0, 0) .. names .. pack('>I4', crc32c(id .. names))
  drops[#drops + 1] = dropAt
  drops[#drops + 1] = id .. queue
  count(queue, FAILED, 1)
  return queue
end
