-- Keeps a claim, unless there is one already; gives the one that is kept.
--
-- KEYS  claim
-- ARGV  claim, milliseconds to keep, whether to write again what is kept ('1' or '')
local kept = redis.call('GET', KEYS[1])
if kept then
    if ARGV[3] == '1' then redis.call('SET', KEYS[1], kept, 'KEEPTTL') end
    return kept
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
