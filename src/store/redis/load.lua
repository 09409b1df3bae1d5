-- Where a match is, its snapshot unless the caller knows this position, and what is remembered of
-- a request.
--
-- KEYS  state, requests
-- ARGV  known version, known digest, request (each may be empty)
local at = redis.call('HMGET', KEYS[1], 'version', 'digest')
if not at[1] then return false end
local snapshot, answered = false, false
if at[1] ~= ARGV[1] or at[2] ~= ARGV[2] then snapshot = redis.call('HGET', KEYS[1], 'snapshot') end
if ARGV[3] ~= '' then answered = redis.call('HGET', KEYS[2], ARGV[3]) end
return {at[1], at[2], snapshot, answered}
