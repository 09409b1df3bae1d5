//! Following a match through broken connections.

use std::time::Duration;

use backon::BackoffBuilder as _;
use tonic::{Request, Status, Streaming};

use super::AtMatch;
use super::retry::is_passing;
use crate::proto::stream_view_response::Message;
use crate::proto::{EndReason, Event, SnapshotReason, StreamViewRequest, StreamViewResponse, View};

/// A stream that is silent for so long is given up: the server sends a sign of life far more often.
const SILENCE: Duration = Duration::from_secs(45);

/// What a follower is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Followed {
    /// Where the match is: at first, and again where the service lost what was seen before.
    Snapshot {
        /// What is seen.
        view: View,
        /// Whether what was told before is to be forgotten.
        forget: bool,
    },
    /// One version more.
    Update {
        /// The version, one above the last.
        version: u64,
        /// What happened.
        events: Vec<Event>,
        /// What is seen after it.
        view: View,
    },
}

/// Follows a match: every version once and in order, whatever happens to connections and servers.
#[derive(Debug)]
pub struct Follow {
    at: AtMatch,
    after_version: Option<u64>,
    resume_token: Vec<u8>,
    version: u64,
    resumed: u32,
    stream: Option<Streaming<StreamViewResponse>>,
    ended: bool,
}

impl Follow {
    pub(super) fn new(at: AtMatch, after_version: Option<u64>) -> Self {
        Self {
            at,
            after_version,
            resume_token: Vec::new(),
            version: 0,
            resumed: 0,
            stream: None,
            ended: false,
        }
    }

    /// How often a stream was taken up again where another had broken.
    #[must_use]
    pub fn resumed(&self) -> u32 {
        self.resumed
    }

    /// Waits for what there is next; nothing when the match is over and all was told, or when it is
    /// gone.
    ///
    /// # Errors
    /// The service's, where trying again does not help.
    pub async fn next(&mut self) -> Result<Option<Followed>, Status> {
        let patience = self.at.client.patience;
        let mut pauses = patience.pauses().build();
        while !self.ended {
            match self.receive().await {
                Ok(Some(reply)) => {
                    pauses = patience.pauses().build();
                    self.resume_token = reply.resume_token;
                    if let Some(told) = self.take(reply.version, reply.message) {
                        return Ok(Some(told));
                    }
                }
                // The server ended the stream, and will take it up again.
                Ok(None) => self.stream = None,
                Err(status) => {
                    self.stream = None;
                    let pause = if is_passing(&status) { pauses.next() } else { None };
                    tokio::time::sleep(pause.ok_or(status)?).await;
                }
            }
        }
        Ok(None)
    }

    async fn receive(&mut self) -> Result<Option<StreamViewResponse>, Status> {
        if self.stream.is_none() {
            let mut request = Request::new(StreamViewRequest {
                match_id: self.at.match_id.clone(),
                resume_token: self.resume_token.clone(),
                after_version: self.after_version.filter(|_| self.resume_token.is_empty()),
            });
            self.at.identify(&mut request);
            let opened = self.at.client.matches.stream_view(request);
            let opened = tokio::time::timeout(super::TRY, opened).await;
            let opened = opened.map_err(|_| Status::unavailable("the server does not answer"))?;
            self.stream = Some(opened?.into_inner());
            self.resumed += u32::from(!self.resume_token.is_empty());
        }
        let Some(stream) = &mut self.stream else { return Ok(None) };
        let reply = tokio::time::timeout(SILENCE, stream.message()).await;
        reply.map_err(|_| Status::unavailable("the server has fallen silent"))?
    }

    /// What a message tells, if anything.
    fn take(&mut self, version: u64, message: Option<Message>) -> Option<Followed> {
        match message? {
            Message::Snapshot(snapshot) => {
                self.version = version;
                let forget = snapshot.reason() != SnapshotReason::Initial;
                Some(Followed::Snapshot { view: snapshot.view.unwrap_or_default(), forget })
            }
            Message::Update(update) => {
                debug_assert!(version == self.version + 1 || self.version == 0);
                self.version = version;
                let view = update.view.unwrap_or_default();
                Some(Followed::Update { version, events: update.events, view })
            }
            Message::Heartbeat(_) => None,
            Message::End(end) => {
                self.ended = end.reason() != EndReason::Draining;
                None
            }
        }
    }
}
