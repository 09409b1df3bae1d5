-- Changes a match in one step, or says why not.
--
-- KEYS  state, log, requests
-- ARGV  request, its answer, base version, base digest, version, digest, input, snapshot,
--       milliseconds to keep, channel, whether to write an earlier answer again ('1' or '')
--
-- The channel is no key: while a slot moves from node to node, a cluster refuses keys that are not all
-- there, and a channel never is.
--
-- To let the keys live on is half of all commands that a replica and the append-only file get, so
-- that is done only once a sixteenth of their time has passed, or when that time becomes shorter. The
-- requests stand for all: they are the last key to be made, and all live equally long.
--
-- A script is atomic but not transactional: what it wrote stays when a later command fails. So all
-- that can be wrong is looked at first, and the first write is the one that a full or read-only
-- server refuses, and that can happen only once for each version.
local answered = redis.call('HGET', KEYS[3], ARGV[1])
if answered then
    if ARGV[11] == '1' then redis.call('HSET', KEYS[3], ARGV[1], answered) end
    return {'repeated', answered}
end

local at = redis.call('HMGET', KEYS[1], 'version', 'digest')
if not at[1] then return {'gone'} end
if at[1] ~= ARGV[3] or at[2] ~= ARGV[4] then return {'moved', at[1]} end
local keep, left = tonumber(ARGV[9]), redis.call('PTTL', KEYS[3])

redis.call('XADD', KEYS[2], ARGV[5] .. '-0', 'digest', ARGV[6], 'input', ARGV[7])
redis.call('HSET', KEYS[1], 'version', ARGV[5], 'digest', ARGV[6], 'snapshot', ARGV[8])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
if left < keep - keep / 16 or left > keep then
    -- The state first: it never outlives the log.
    for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ARGV[9]) end
end

-- An announcement is a hint. The change is made, whether it can be announced or not.
local announced = redis.pcall('PUBLISH', ARGV[10], ARGV[6] .. ARGV[5])
if type(announced) == 'table' and announced.err then return {'done', announced.err} end
return {'done'}
