-- Writes a record of configuration if its version is still the one given. KEYS[1]: the kind's hash; KEYS[2]: the
-- largest version ever given out; ARGV: name, expected version, 1 if there is content, content.
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
