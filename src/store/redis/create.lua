-- Keeps a new match, unless something is kept under its id.
--
-- KEYS  state, log, requests
-- ARGV  version, digest, input, snapshot, milliseconds to keep, whether to write again a part of
--       what is kept ('1' or '')
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3]) > 0 then
    local digest = ARGV[6] == '1' and redis.call('HGET', KEYS[1], 'digest')
    if digest then redis.call('HSET', KEYS[1], 'digest', digest) end
    return 0
end
redis.call('XADD', KEYS[2], ARGV[1] .. '-0', 'digest', ARGV[2], 'input', ARGV[3])
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'digest', ARGV[2], 'snapshot', ARGV[4])
for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], ARGV[5]) end
return 1
