//! A match as it went over the wire: what the baseline is asked and answers, so that both have the
//! same sizes.

use std::path::Path;

use bytes::Bytes;
use parlor::proto::match_service_client::MatchServiceClient;
use parlor::proto::{StreamViewRequest, SubmitActionRequest};
use prost::Message as _;
use redis::streams::StreamRangeReply;
use tonic::transport::Channel;

use super::Failure;
use super::process::Redis;
use super::raw::Raw;
use super::table::Table;

/// The calls of a match.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Recording {
    /// The token of one of its seats.
    #[prost(string, tag = "1")]
    pub bearer: String,
    #[prost(message, repeated, tag = "2")]
    pub requests: Vec<SubmitActionRequest>,
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub answers: Vec<Bytes>,
    /// What a spectator is told.
    #[prost(bytes = "bytes", repeated, tag = "4")]
    pub updates: Vec<Bytes>,
    /// The bytes of its last snapshot in the store.
    #[prost(uint64, tag = "5")]
    pub snapshot: u64,
    /// The bytes of all its inputs in the store.
    #[prost(uint64, tag = "6")]
    pub inputs: u64,
}

impl Recording {
    /// Plays a match with so many seats at a service that keeps it in this Redis.
    pub async fn make(channel: &Channel, redis: &Redis, seats: usize) -> Result<Self, Failure> {
        let mut client = MatchServiceClient::new(channel.clone());
        let mut table = Table::open(&mut client, seats).await?;
        let mut recording = Self::default();
        while let Some(request) = table.next() {
            let bearer = request.metadata().get("authorization").ok_or("no token")?;
            bearer.to_str()?.clone_into(&mut recording.bearer);
            recording.requests.push(request.get_ref().clone());
            let answer = client.submit_action(request).await?.into_inner();
            recording.answers.push(answer.encode_to_vec().into());
            table.take(answer);
        }
        let from_the_start = StreamViewRequest {
            match_id: table.match_id.clone(),
            after_version: Some(1),
            ..StreamViewRequest::default()
        };
        let mut updates = stream(channel, &from_the_start).await?;
        while let Some(update) = updates.message().await? {
            recording.updates.push(update);
        }
        // The last one says that it was the last one.
        recording.updates.pop();

        let mut kept =
            redis::Client::open(redis.url.as_str())?.get_multiplexed_async_connection().await?;
        let key = |what| format!("parlor1:{{{}}}:{what}", table.match_id);
        let (snapshot, log): (u64, StreamRangeReply) = redis::pipe()
            .cmd("HSTRLEN")
            .arg(key('s'))
            .arg("snapshot")
            .cmd("XRANGE")
            .arg(key('l'))
            .arg("(1-0")
            .arg("+")
            .query_async(&mut kept)
            .await?;
        recording.snapshot = snapshot;
        let inputs = log.ids.iter().filter_map(|entry| entry.get::<Vec<u8>>("input"));
        recording.inputs = inputs.map(|input| input.len() as u64).sum();
        Ok(recording)
    }

    /// Reads one.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        Ok(Self::decode(std::fs::read(path)?.as_slice())?)
    }

    /// Writes it.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        Ok(std::fs::write(path, self.encode_to_vec())?)
    }

    /// What it holds, in a line.
    pub fn describe(&self) -> String {
        let actions = self.requests.len().max(1);
        let mean = |messages: &[Bytes]| messages.iter().map(Bytes::len).sum::<usize>() / actions;
        let requests: usize = self.requests.iter().map(prost::Message::encoded_len).sum();
        format!(
            "{actions} actions a match; mean bytes: request {}, answer {}, update {}, snapshot {}, \
             input {}",
            requests / actions,
            mean(&self.answers),
            mean(&self.updates),
            self.snapshot,
            self.inputs as usize / actions,
        )
    }
}

/// Opens a stream that is not decoded.
pub async fn stream(
    channel: &Channel,
    request: &StreamViewRequest,
) -> Result<tonic::Streaming<Bytes>, Failure> {
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await?;
    let path = http::uri::PathAndQuery::from_static("/parlor.v1.MatchService/StreamView");
    let request = tonic::Request::new(request.encode_to_vec().into());
    Ok(client.server_streaming(request, path, Raw).await?.into_inner())
}
