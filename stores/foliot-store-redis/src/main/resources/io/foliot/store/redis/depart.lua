-- Reads records and answers that migrate from this part. They no longer change, because this part from now on refuses
-- calls that name fewer parts than this call. ARGV[2..4]: the numbers of ids, of keys, and of fields of answers.
-- ARGV[5..]: the ids, the keys and the fields.
-- If a record's key points to another task, that task is read too, so that a key always points to its latest task.
-- Returns a list of five elements:
-- 1. the lowest generation that this part could still assign
-- 2. 1 if nothing is left to migrate, else 0
-- 3. for each record five values: id, bytes, body, successor's body, and field of the key if the key points to the
--    record
-- 4. for each answer two values: field and bytes
-- 5. for each task that was set aside two values: id and queue
local ids, keys = tonumber(ARGV[2]), tonumber(ARGV[3])
local records, answers, shownIds, asides = {}, {}, {}, {}
local KEPT_MILLIS = 14 * 24 * 3600 * 1000

local function show(id)
  local v = id and not shownIds[id] and call('HGET', TASK, id)
  if not v then
    return
  end
  shownIds[id] = true
  if not plain(v) then
    local version = byte(v, 1) or 0
    if version > VERSION and version < 16 then
      error('a newer version of Foliot wrote a record that must migrate')
    end
    asides[#asides + 1] = id
    asides[#asides + 1] = setAside(id, v, 'set aside: its record could not be read to migrate it', KEPT_MILLIS)
    flush()
    tasks, dues, undues, drops, counts, counted = {}, {}, {}, {}, {}, {}
    v = call('HGET', TASK, id)
  end
  local field = fieldOf(v)
  local holder = field and call('HGET', KEY, field)
  records[#records + 1] = id
  records[#records + 1] = v
  records[#records + 1] = band(byte(v, 3), HAS_BODY) ~= 0 and call('HGET', BODY, id)
  records[#records + 1] = band(byte(v, 3), HAS_SUCCESSOR_BODY) ~= 0 and call('HGET', BODY, id .. 's')
  records[#records + 1] = holder == id and field
  if holder and holder ~= id then
    show(holder)
  end
end

for i = 5, 4 + ids do
  show(ARGV[i])
end
for i = 5 + ids, 4 + ids + keys do
  show(call('HGET', KEY, ARGV[i]))
end
for i = 5 + ids + keys, #ARGV do
  local v = call('HGET', ANSWER, ARGV[i])
  if v then
    answers[#answers + 1] = ARGV[i]
    answers[#answers + 1] = v
  end
end
local drained = tonumber(call('HGET', META, 'drained') or '-1')
return {shown, drained >= bits and 1 or 0, records, answers, asides}
