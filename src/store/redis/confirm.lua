-- Writes again what a hash has under a field, unchanged, if it has: who then waits for a replica also
-- waits for the change that wrote it first, whichever connection that came on.
--
-- KEYS  hash
-- ARGV  field
local kept = redis.call('HGET', KEYS[1], ARGV[1])
if kept then redis.call('HSET', KEYS[1], ARGV[1], kept) end
return 1
