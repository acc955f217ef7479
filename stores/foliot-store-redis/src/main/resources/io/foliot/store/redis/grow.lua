-- Writes the number of parts, a power of two, or marks it as complete. KEYS[1]: the hash with the number; ARGV[1]: the
-- exponent of the number; ARGV[2]: 1 if all migrations have ended, else 0. Returns the exponent of the number, and the
-- exponent of the last complete number.
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
