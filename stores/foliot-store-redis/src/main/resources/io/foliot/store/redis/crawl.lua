-- Scans this part for records or answers that must migrate to another part. ARGV[2]: a mask with one bit, which is set
-- in the hashes of these records and answers; ARGV[3]: 0 for records, 1 for answers; ARGV[4]: the cursor of the scan;
-- ARGV[5]: about how many elements to scan. Returns the next cursor, then the ids of the tasks or the fields of the
-- answers.
local bit16, answers = tonumber(ARGV[2]), ARGV[3] == '1'
local found = call('HSCAN', answers and ANSWER or TASK, ARGV[4], 'COUNT', ARGV[5])
local out = {found[1]}
for i = 1, #found[2], 2 do
  local name, v = found[2][i], found[2][i + 1]
  -- The hash is in the last two bytes of a task's id. The value of an answer contains the id at byte 20.
  local high, low = byte(answers and v or name, answers and 34 or 15, answers and 35 or 16)
  if band(high * 256 + low, bit16) ~= 0 then
    out[#out + 1] = name
  end
end
return out
