-- Reads the entries of an ordered set that follow an entry. ARGV[2]: the name of the set; ARGV[3]: the entry's score;
-- ARGV[4]: the entry's id, or nothing to begin with the first entry of this score; ARGV[5]: the last score; ARGV[6]:
-- the maximum number of entries. Members of equal score are in the order of their bytes, so a binary search finds the
-- position.
local set, from, after, to, limit = P .. ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
if after == '' then
  return call('ZRANGEBYSCORE', set, from, to, 'WITHSCORES', 'LIMIT', 0, limit)
end
local low = call('ZCOUNT', set, '-inf', '(' .. from)
local high = low + call('ZCOUNT', set, from, from)
while low < high do
  local middle = floor((low + high) / 2)
  if isBehind(call('ZRANGE', set, middle, middle)[1], after) then
    high = middle
  else
    low = middle + 1
  end
end
local last = call('ZCOUNT', set, '-inf', to) - 1
if last < low then
  return {}
end
return call('ZRANGE', set, low, math.min(last, low + limit - 1), 'WITHSCORES')
