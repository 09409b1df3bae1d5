-- Keeps a new match, unless something is kept under its id.
--
-- KEYS  state, log, requests
-- ARGV  version, digest, input, snapshot, milliseconds to keep
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3]) > 0 then return 0 end
redis.call('XADD', KEYS[2], ARGV[1] .. '-0', 'digest', ARGV[2], 'input', ARGV[3])
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'digest', ARGV[2], 'snapshot', ARGV[4])
for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], ARGV[5]) end
return 1
