//! What the server's answers say. Where they are about a match, an answer of another shape than was
//! agreed on, or with what is not as it was written, is [`StoreError::Corrupt`]. Where a server says
//! such things of itself, it is not one that we know how to use: [`StoreError::Misconfigured`].

use std::collections::HashMap;

use bytes::Bytes;
use redis::{FromRedisValue, Value};

use super::address::Host;
use super::{checked, errors, keys};
use crate::store::{
    Answered, Committed, Digest, Entry, Loaded, Log, Position, Result, StoreError, Version,
};

/// What a server says of itself.
#[derive(Clone, Debug)]
pub(super) struct Greeting {
    pub(super) version: String,
    /// `standalone`, `cluster` or `sentinel`.
    pub(super) mode: String,
    /// `master` or `replica`; a sentinel has none.
    pub(super) role: String,
}

/// Who answered to `HELLO`.
pub(super) fn hello(answer: Value) -> Result<Greeting> {
    let mut fields = HashMap::<String, Value>::from_redis_value(refused(answer)?)
        .map_err(|_| strange("a greeting"))?;
    let mut field = |name: &str| {
        let value = fields.remove(name).and_then(|value| String::from_redis_value(value).ok());
        value.ok_or_else(|| strange("a greeting"))
    };
    let role = field("role").unwrap_or_default();
    Ok(Greeting { version: field("version")?, mode: field("mode")?, role })
}

/// Where a sentinel says that the primary of this name is.
pub(super) fn primary(answer: Value, name: &str) -> Result<Host> {
    match answer {
        Value::Nil => {
            Err(StoreError::Misconfigured(format!("the sentinels know no primary named {name}")))
        }
        answer => {
            let (host, port) = <(String, u16)>::from_redis_value(answer)
                .map_err(|_| strange("where the primary is"))?;
            Ok(Host::new(host, port))
        }
    }
}

/// Which node serves the slots from which to which, in ascending order: the answer to
/// `CLUSTER SLOTS`. A node without a host is the one that was asked.
pub(super) fn slots(answer: Value, asked: &Host) -> Result<Vec<(u16, u16, Host)>> {
    let broken = |_| strange("a map of slots");
    let Value::Array(ranges) = refused(answer)? else {
        return Err(strange("a map of slots"));
    };
    let range = |range: Value| {
        let mut parts = Vec::<Value>::from_redis_value(range).map_err(broken)?.into_iter();
        let (Some(first), Some(last), Some(node)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(strange("a map of slots"));
        };
        let mut node = Vec::<Value>::from_redis_value(node).map_err(broken)?.into_iter();
        let host = node.next().and_then(bytes).unwrap_or_default();
        let port = node.next().ok_or_else(|| strange("a map of slots"))?;
        let host = String::from_utf8_lossy(&host).into_owned();
        let host = if host.is_empty() || host == "?" { asked.name.clone() } else { host };
        let number = |value| u16::from_redis_value(value).map_err(broken);
        Ok((number(first)?, number(last)?, Host::new(host, number(port)?)))
    };
    let mut ranges = ranges.into_iter().map(range).collect::<Result<Vec<_>>>()?;
    ranges.sort_unstable();
    Ok(ranges)
}

/// Whether it tells of something that is kept: then a replica must have it too.
pub(super) fn is_kept(answer: &Value) -> bool {
    let Value::Array(parts) = answer else { return true };
    !matches!(parts.first(), Some(Value::BulkString(what)) if what == b"gone" || what == b"moved")
}

/// The answer, unless it is the server's refusal.
pub(super) fn refused(answer: Value) -> Result<Value> {
    answer.extract_error().map_err(|error| errors::of_answer(&error).into_error())
}

/// The claim that is kept under this key.
pub(super) fn claim(answer: Value, key: &str) -> Result<Bytes> {
    checked::read(key.as_bytes(), bytes(answer).ok_or_else(|| unexpected("a claim"))?)
}

/// Whether it was created.
pub(super) fn created(answer: &Value) -> Result<bool> {
    match answer {
        Value::Int(0) => Ok(false),
        Value::Int(1) => Ok(true),
        _ => Err(unexpected("a creation")),
    }
}

/// The match, if there is one, and what is remembered of this request.
pub(super) fn loaded(answer: Value, request: &str) -> Result<Option<Loaded>> {
    let Value::Array(parts) = answer else { return nothing(&answer) };
    let Ok([version, digest, snapshot, answered]) = <[Value; 4]>::try_from(parts) else {
        return Err(unexpected("a match"));
    };
    let position = self::position(version, digest)?;
    let snapshot = bytes(snapshot).map(|snapshot| checked::read(&place(position), snapshot));
    let answered = bytes(answered).map(|answered| self::answered(answered, request));
    Ok(Some(Loaded { position, snapshot: snapshot.transpose()?, answered: answered.transpose()? }))
}

/// What came of a commit of this request on this base, and why it could not be announced, if so.
pub(super) fn committed(
    answer: Value,
    base: Version,
    request: &str,
) -> Result<(Committed, Option<Bytes>)> {
    let Value::Array(parts) = answer else { return Err(unexpected("a commit")) };
    let mut parts = parts.into_iter().map(bytes);
    let what = parts.next().flatten().ok_or_else(|| unexpected("a commit"))?;
    let detail = parts.next().flatten();
    let committed = match (&*what, detail) {
        (b"done", unannounced) => return Ok((Committed::Done, unannounced)),
        (b"repeated", Some(answered)) => Committed::Repeated(self::answered(answered, request)?),
        (b"gone", None) => Committed::Gone,
        (b"moved", Some(version)) => {
            let version = keys::version_of(&version).ok_or_else(|| unexpected("a version"))?;
            if version > base { Committed::Conflict } else { Committed::Forked }
        }
        _ => return Err(unexpected("a commit")),
    };
    Ok((committed, None))
}

/// The match's log after this version, if there is a match.
pub(super) fn log(answer: Value, after: Version, limit: usize) -> Result<Option<Log>> {
    let Value::Array(parts) = answer else { return nothing(&answer) };
    let Ok([version, digest, entries]) = <[Value; 3]>::try_from(parts) else {
        return Err(unexpected("a log"));
    };
    let head = position(version, digest)?;
    let entries = match entries {
        Value::Nil => Vec::new(),
        Value::Array(entries) => entries.into_iter().map(entry).collect::<Result<_>>()?,
        _ => return Err(unexpected("a log")),
    };
    let missing = usize::try_from(head.version.saturating_sub(after)).unwrap_or(usize::MAX);
    let in_order = entries.iter().zip(1..).all(|(entry, step)| {
        after.checked_add(step).is_some_and(|version| entry.position.version == version)
    });
    if entries.len() != missing.min(limit) || !in_order {
        return Err(StoreError::Corrupt("the log has gaps".to_owned()));
    }
    Ok(Some(Log { head, entries }))
}

/// Where the match is, if there is one: the answer to `HMGET` of version and digest.
pub(super) fn head(answer: Value) -> Result<Option<Position>> {
    let Value::Array(parts) = refused(answer)? else { return Err(unexpected("a position")) };
    match <[Value; 2]>::try_from(parts) {
        Ok([Value::Nil, _]) => Ok(None),
        Ok([version, digest]) => position(version, digest).map(Some),
        Err(_) => Err(unexpected("a position")),
    }
}

/// Settings by their names: the answer to `CONFIG GET`. Nothing, if it is not permitted.
pub(super) fn settings(answer: Value) -> Option<HashMap<String, String>> {
    HashMap::from_redis_value(answer.extract_error().ok()?).ok()
}

/// How many replicas follow a primary: the answer to `ROLE`. Nothing, if it is not permitted.
pub(super) fn replicas(answer: Value) -> Option<usize> {
    let Ok(Value::Array(parts)) = answer.extract_error() else { return None };
    match parts.as_slice() {
        [_, _, Value::Array(replicas)] => Some(replicas.len()),
        _ => None,
    }
}

fn entry(entry: Value) -> Result<Entry> {
    let broken = || unexpected("an entry");
    let Value::Array(parts) = entry else { return Err(broken()) };
    let Ok([id, Value::Array(fields)]) = <[Value; 2]>::try_from(parts) else {
        return Err(broken());
    };
    let version = bytes(id).ok_or_else(broken)?;
    let version = version.strip_suffix(b"-0").and_then(keys::version_of).ok_or_else(broken)?;
    let fields = fields.into_iter().map(bytes).collect::<Option<Vec<_>>>().ok_or_else(broken)?;
    match fields.as_slice() {
        [digest_name, digest, input_name, input]
            if digest_name == "digest" && input_name == "input" =>
        {
            let position = Position { version, digest: self::digest(digest)? };
            let input = checked::read(&place(position), input.clone())?;
            Ok(Entry { position, input })
        }
        _ => Err(broken()),
    }
}

fn position(version: Value, digest: Value) -> Result<Position> {
    let broken = || unexpected("a position");
    let version = bytes(version).and_then(|version| keys::version_of(&version));
    let digest = bytes(digest).ok_or_else(broken)?;
    Ok(Position { version: version.ok_or_else(broken)?, digest: self::digest(&digest)? })
}

fn answered(value: Bytes, request: &str) -> Result<Answered> {
    let value = checked::read(request.as_bytes(), value)?;
    keys::answered(&value).ok_or_else(|| unexpected("an answered request"))
}

/// The place of what is kept of a match at this position.
fn place(Position { version, digest }: Position) -> Vec<u8> {
    keys::with_digest(version, digest)
}

fn digest(value: &[u8]) -> Result<Digest> {
    keys::digest_of(value).ok_or_else(|| unexpected("a digest"))
}

/// The text, if it is one.
fn bytes(value: Value) -> Option<Bytes> {
    match value {
        Value::BulkString(bytes) => Some(bytes.into()),
        Value::SimpleString(text) => Some(text.into()),
        _ => None,
    }
}

fn nothing<T>(answer: &Value) -> Result<Option<T>> {
    match answer {
        Value::Nil | Value::Boolean(false) => Ok(None),
        _ => Err(unexpected("a match")),
    }
}

/// The error of an answer by which a server does not say this of itself.
pub(super) fn strange(what: &str) -> StoreError {
    StoreError::Misconfigured(format!("the server's answer is not {what}"))
}

fn unexpected(what: &str) -> StoreError {
    StoreError::Corrupt(format!("the answer is not {what}"))
}
