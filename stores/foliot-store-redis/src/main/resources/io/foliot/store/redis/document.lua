-- Writes or deletes a document if it still has the expected version. KEYS[1]: the hash of the document's kind; KEYS[2]:
-- the largest version ever given out; ARGV: name, expected version or 0 for none, 1 to write or 0 to delete, content.
-- Returns 1, or 0 if the version differs.
local old = redis.call('HGET', KEYS[1], ARGV[1])
local version = old and struct.unpack('>i8', old) or 0
if version ~= tonumber(ARGV[2]) then
  return {0}
end
if ARGV[3] == '1' then
  local last = tonumber(redis.call('GET', KEYS[2]) or '0')
  version = old and version + 1 or last + 1
  redis.call('SET', KEYS[2], math.max(last, version))
  redis.call('HSET', KEYS[1], ARGV[1], struct.pack('>i8', version) .. ARGV[4])
elseif old then
  redis.call('HDEL', KEYS[1], ARGV[1])
end
return {1}
