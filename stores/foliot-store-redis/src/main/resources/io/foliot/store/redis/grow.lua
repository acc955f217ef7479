-- Writes how many parts there are. KEYS[1]: the record of it; ARGV[1]: the number as a power of two; ARGV[2]: 1 once
-- nothing is to cross any more. Answers the number and the last one that is complete.
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
