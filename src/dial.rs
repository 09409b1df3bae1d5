//! The server that a command calls, as the command line says it: for every command that calls one.

use std::fs;
use std::io;
use std::path::Path;

use crate::cli::ServerArgs;
use crate::client::{BadClient, Client, Trust};

/// Why a server cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum Undialled {
    /// A file cannot be read.
    #[error("{0}: {1}")]
    File(String, io::Error),
    /// The address or a certificate cannot be used.
    #[error(transparent)]
    Client(#[from] BadClient),
}

/// A client of the server; it connects when it is first used.
///
/// # Errors
/// [`Undialled`].
pub fn dial(args: &ServerArgs) -> Result<Client, Undialled> {
    let trust = match &args.ca {
        Some(path) => Trust::only(read(path)?),
        None => Trust::default(),
    };
    let trust = match (&args.cert, &args.key) {
        (Some(certificate), Some(key)) => trust.showing(read(certificate)?, read(key)?),
        _ => trust,
    };
    Ok(Client::trusting(&args.server, &trust)?)
}

fn read(path: &Path) -> Result<Vec<u8>, Undialled> {
    fs::read(path).map_err(|error| Undialled::File(path.display().to_string(), error))
}
