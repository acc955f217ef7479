-- Writes the number of parts, a power of two. KEYS[1]: its record; ARGV[1]: its exponent; ARGV[2]: 1 once all
-- migrations have ended. Returns the exponent of the number, and that of the last number with all migrations ended.
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
