-- Doubles the number of parts, which is a power of two, or marks the present number as "complete". A number is complete
-- once all tasks have migrated after the doubling to this number. Only a complete number is doubled. Changes nothing in
-- other cases. KEYS[1]: the hash with the number. ARGV[1]: the exponent of the number to write or to mark. ARGV[2]: 1
-- to mark it, 0 to write it. Returns the exponents of the number, and of the latest complete number.
local bits = tonumber(redis.call('HGET', KEYS[1], 'bits'))
local complete = tonumber(redis.call('HGET', KEYS[1], 'complete'))
local wanted = tonumber(ARGV[1])
if ARGV[2] == '1' and wanted == bits then
  complete = bits
  redis.call('HSET', KEYS[1], 'complete', complete)
elseif ARGV[2] == '0' and wanted == bits + 1 and complete == bits then
  bits = wanted
  redis.call('HSET', KEYS[1], 'bits', bits)
end
return {bits, complete}
