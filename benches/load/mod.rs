//! What both benches need: servers in processes of their own, something to compare them with, and
//! ratios.
//!
//! A figure of a busy machine says little. So whatever is compared takes turns within one run, a
//! short slice each, and what counts is the ratio within each round and how far the rounds differ.

pub mod baseline;
pub mod process;
pub mod ratio;
pub mod raw;
pub mod recording;
pub mod table;

use std::error::Error;

use tonic::transport::{Channel, Endpoint};

/// What ends a bench too soon.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Connections to the server at this address, all open.
pub async fn connect(address: &str, count: usize) -> Result<Vec<Channel>, Failure> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))?.tcp_nodelay(true);
    let mut channels = Vec::with_capacity(count);
    for _ in 0..count {
        channels.push(endpoint.connect().await?);
    }
    Ok(channels)
}
