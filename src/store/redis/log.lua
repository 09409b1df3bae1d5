-- Where a match is, and the log after a version.
--
-- KEYS  state, log
-- ARGV  version, how many entries at most
local at = redis.call('HMGET', KEYS[1], 'version', 'digest')
if not at[1] then return false end
local entries = redis.call('XRANGE', KEYS[2], '(' .. ARGV[1] .. '-0', '+', 'COUNT', ARGV[2])
return {at[1], at[2], entries}
